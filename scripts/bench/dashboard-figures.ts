/** Figures that the benchmark of the dashboard reports. Kilobytes are 10³ bytes. */

/** Figures of the dashboard. */
export interface DashboardFigures {
  readonly load: PageLoad & { readonly idleShare: number }
  readonly map: Frames & { readonly emptyPerSecond: number }
  readonly tour: Tour
  readonly fleetTabs: TabsCost
  readonly rolloutTabs: TabsCost
  readonly heap: HeapGrowth
}

/** Figures of loads with an empty cache. Times are milliseconds from the start of the navigation. */
export interface PageLoad {
  /** Scripts of the first page, compressed with gzip, in kilobytes (10³ bytes). */
  readonly scriptKilobytes: number
  /** First contentful paint, with a slower processor. */
  readonly firstPaintMs: readonly number[]
  /** Processor time of the page's main thread until then, without a slowdown: also valid on a busy machine. */
  readonly paintCpuMs: readonly number[]
  /** First contentful paint of a page of the same server without a script, with a slower processor. */
  readonly plainPaintMs: readonly number[]
  /** Until the first rows of the fleet are painted and no long task has followed for half a second. */
  readonly interactiveMs: readonly number[]
  /** The same, with a slower processor. */
  readonly slowInteractiveMs: readonly number[]
  /** Processor time of the page's main thread until then: also valid on a busy machine. */
  readonly interactiveCpuMs: readonly number[]
}

/** Frames of a page, and its main thread. */
export interface Frames {
  readonly perSecond: number
  /** The longest task of each second, in milliseconds: the value that 95 % of the seconds do not exceed. */
  readonly longestTaskP95Ms: number
  /** The same of its processor time: also valid on a busy machine. */
  readonly longestTaskCpuP95Ms: number
  /** Processors that the main thread used. */
  readonly busyShare: number
  /** Part of the machine's processors that was idle. */
  readonly idleShare: number
}

/** Streams of a tab on a tour. */
export interface Tour {
  readonly pages: number
  /** Most streams that were open at the same time. */
  readonly mostStreams: number
  /** Streams that were opened on the whole tour. */
  readonly streams: number
}

/** Cost of many tabs. */
export interface TabsCost {
  readonly tabs: number
  /** Reads that one tab repeats, and their average interval in milliseconds. */
  readonly again: readonly { readonly path: string; readonly everyMs: number }[]
  /** Processor time of the API per tab and second, in milliseconds: less the time without tabs. */
  readonly cpuMs: number
  /** Memory of the API per tab, in MiB: less the memory without tabs. */
  readonly mebibytes: number
  /** Processors that the API used altogether. */
  readonly processors: number
  /** Processors that the API used without tabs. */
  readonly idleProcessors: number
  /** Repeated reads per tab and second, and the duration that 95 % of them did not exceed. */
  readonly readsPerSecond: number
  readonly readP95Ms: number
  /** Part of the repeated reads that the API refused with 503, because it was busy. */
  readonly refusedShare: number
  /** Bytes that a tab received per second, in kilobytes (10³ bytes). */
  readonly kilobytesPerSecond: number
}

/** Growth of a tab. */
export interface HeapGrowth {
  readonly minutes: number
  readonly samples: number
  /** Releases that have ended in this time. */
  readonly releases: number
  /** Retained heap at the start and at the end of the line that is fitted to the last two thirds of the time. */
  readonly startKilobytes: number
  readonly endKilobytes: number
  /** Fitted growth of the retained heap. */
  readonly kilobytesPerMinute: number
  /** Fitted growth of the number of nodes of the document. */
  readonly domNodesPerMinute: number
  /** Most streams that the tab had open at the same time. */
  readonly mostStreams: number
}
