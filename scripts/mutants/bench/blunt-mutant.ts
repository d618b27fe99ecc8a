/** One guarantee broken as a whole, which the fault bench alone must find. */
export interface BluntMutant {
  /** `G1` … `G12`. */
  readonly guarantee: string
  /** What goes wrong, in present tense. */
  readonly fault: string
  /** Edits of the programs' sources, made as the modules load. */
  readonly edits: readonly Edit[]
  /** The worlds in which it is looked for. @default any */
  readonly worlds?: WorldsName
  /** Guarantees of which one must be named. @default the guarantee itself */
  readonly named?: readonly string[]
}

/** A text that stands in the file exactly once, and what takes its place. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** Names of {@link worlds}. */
export type WorldsName =
  | 'any'
  | 'calm'
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
  | 'people'
  | 'left'
  | 'tainted'
  | 'lagging'
  | 'contested'
  | 'upgrades'
  | 'slow'
  | 'superseded'
  | 'changing'
  | 'disabled'
  | 'stale'
  | 'native'
  | 'down'
  | 'flapping'
  | 'interrupted'
  | 'overtaken'
  | 'behind'
  | 'asked'
  | 'crossing'
  | 'tenant'
  | 'policies'
