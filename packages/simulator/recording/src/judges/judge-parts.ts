import type { JudgeQuery, RecordedGuarantee } from './breach.ts'
import type { RecordedWrite } from '../record/recorded-write.ts'
import type { Observations } from '../world/observations.ts'
import type { Deletion, World } from '../world/world.ts'

/** Inputs of a judge, and the sink for its breaches. */
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

/** Checks a recording against one guarantee in a single pass. */
export interface Judge {
  /** Called for each of our accepted deletions, before it is applied to the world. */
  readonly onDeletion?: (deletion: Deletion) => void
  /** Called for each write, before it is applied to the world. @param before its object before the write; undefined when unknown */
  readonly onWrite?: (write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined) => void
  /** Called at the end of the recording. */
  readonly atEnd?: (lastMs: number) => void
}
