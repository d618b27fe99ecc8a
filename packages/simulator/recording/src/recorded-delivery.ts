import type { RecordedWrite } from './recorded-write.ts'

/**
 * One line of a recording that also keeps what watches were sent: from then on the actor can have known everything of
 * the resource up to this version. Lists count as well as events and bookmarks.
 */
export interface RecordedDelivery {
  /** When, in epoch milliseconds by the server's clock. */
  readonly t: number
  readonly to: string
  /** Plural, without group: `pods`. */
  readonly of: string
  readonly rv: number
}

/** What was recorded, in two lists, each in the order in which it happened. */
export interface Recording {
  readonly writes: readonly RecordedWrite[]
  /** Empty where the recorder kept none. */
  readonly deliveries: readonly RecordedDelivery[]
}
