/** A guarantee broken as a whole, which the fault bench must find without other tests. */
export interface BluntMutant {
  /** `G1` … `G13`. */
  readonly guarantee: string
  /** The fault, in the present tense. */
  readonly fault: string
  /** Edits of the programs' sources, made as the modules load. */
  readonly edits: readonly Edit[]
  /** Worlds in which the bench looks for it. @default any */
  readonly worlds?: WorldsName
  /** Guarantees of which the bench must name one. @default the guarantee itself */
  readonly named?: readonly string[]
}

/** A text that occurs exactly once in the file, and its replacement. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** Names of {@link worlds}. */
export type WorldsName =
  | 'any'
  | 'calm'
  | 'crowded'
  | 'drained'
  | 'shown'
  | 'locked'
  | 'limited'
  | 'pulling'
  | 'steps'
  | 'waiting'
  | 'timed'
  | 'returning'
  | 'broken'
  | 'crashing'
  | 'reapplied'
  | 'aborted'
  | 'rollovers'
  | 'stopped'
  | 'halted'
  | 'people'
  | 'left'
  | 'returned'
  | 'undone'
  | 'tainted'
  | 'lagging'
  | 'drift'
  | 'upgrades'
  | 'grouped'
  | 'slow'
  | 'superseded'
  | 'changing'
  | 'disabled'
  | 'stale'
  | 'native'
  | 'down'
  | 'killed'
  | 'maintained'
  | 'flapping'
  | 'interrupted'
  | 'overtaken'
  | 'behind'
  | 'asked'
  | 'crossing'
  | 'tenant'
  | 'policies'
  | 'unreached'
  | 'unserved'
  | 'chosen'
  | 'zoned'
  | 'replaced'
  | 'lost'
