import type { JudgeQuery, RecordedGuarantee } from '../breach.ts'
import type { RecordedWrite } from '../recorded-write.ts'
import type { Observations } from '../world/observations.ts'
import type { Deletion, World } from '../world/world.ts'

/** What a judge looks with, and whom it tells. */
export interface JudgeParts {
  readonly world: World
  readonly observations: Observations
  readonly query: JudgeQuery
  readonly breach: (breach: {
    readonly guarantee: RecordedGuarantee
    readonly atMs: number
    readonly node?: string
    readonly text: string
  }) => void
}

/** Holds a recording against one guarantee while it is read once. */
export interface Judge {
  /** A deletion of ours that the server has accepted; the world stands as it was before. */
  readonly onDeletion?: (deletion: Deletion) => void
  /** Any write; the world stands as it was before. @param before its object as it was; undefined where that is not known */
  readonly onWrite?: (write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined) => void
  /** The recording ends. */
  readonly atEnd?: (lastMs: number) => void
}
