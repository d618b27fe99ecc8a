import type { RecordedWrite } from './recorded-write.ts'

/**
 * Line of a recording that also keeps deliveries to watches. From then on, the actor can have known everything of the resource up to this
 * version. Lists count like events and bookmarks.
 */
export interface RecordedDelivery {
  /** Epoch milliseconds by the server's clock. */
  readonly t: number
  readonly to: string
  /** Plural resource name without group: `pods`. */
  readonly of: string
  readonly rv: number
}

/** Recorded writes and deliveries, each in order of occurrence. */
export interface Recording {
  readonly writes: readonly RecordedWrite[]
  /** Empty when the recorder kept no deliveries. */
  readonly deliveries: readonly RecordedDelivery[]
}
