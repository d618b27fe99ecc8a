import type { RecordedNode, RecordedWrite } from '../../record/recorded-write.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/** Reason of the conditions that Tranche sets. */
const OWN_REASON = 'TrancheDrain'

/** Time after the end of a drain within which its condition is gone, if nothing holds our processes up. */
const GONE_MS = 120_000

/**
 * Judges the condition `DrainInProgress` of nodes. G11: we change none that another program set, and set one only on a node with the mark of a
 * drain. G7: in the end no node without a mark has a condition that we set.
 */
export function createDrainConditionJudge(parts: JudgeParts): Judge {
  return new DrainConditionJudge(parts)
}

type Condition = NonNullable<RecordedNode['drain']>

class DrainConditionJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #conditions = new Map<string, Condition>()
  /** Time since which a node has our condition and no mark. */
  readonly #leftSinceMs = new Map<string, number>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind !== 'Node') return
    const { name, drain, cordonMark } = write.o as unknown as RecordedNode
    const after = write.type === 'DELETED' ? undefined : drain
    if (this.#parts.query.isOurs(write.actor ?? '')) this.#judgeChange(write, after)
    if (after === undefined) this.#conditions.delete(name)
    else this.#conditions.set(name, after)
    if (after?.reason !== OWN_REASON || cordonMark !== undefined) this.#leftSinceMs.delete(name)
    else if (!this.#leftSinceMs.has(name)) this.#leftSinceMs.set(name, write.t)
  }

  atEnd(lastMs: number): void {
    const { quiescentFromMs } = this.#parts.query
    if (quiescentFromMs === undefined || lastMs - quiescentFromMs < GONE_MS) return
    for (const [node, sinceMs] of this.#leftSinceMs) {
      if (lastMs - sinceMs < GONE_MS) continue
      this.#parts.breach({
        guarantee: 'G7',
        atMs: lastMs,
        node,
        text: 'it still has our condition DrainInProgress, although no drain marks it',
      })
    }
  }

  #judgeChange(write: RecordedWrite, after: Condition | undefined): void {
    const { name, cordonMark } = write.o as unknown as RecordedNode
    const before = this.#conditions.get(name)
    if (isSame(before, after)) return
    if (before !== undefined && before.reason !== OWN_REASON)
      this.#breach(write, `we change the condition DrainInProgress, which another program set for ${before.reason ?? 'no reason'}`)
    else if (after !== undefined && cordonMark === undefined)
      this.#breach(write, 'we set the condition DrainInProgress on a node without the mark of a drain')
  }

  #breach({ t, node }: RecordedWrite, text: string): void {
    this.#parts.breach({ guarantee: 'G11', atMs: t, ...(node !== undefined && { node }), text })
  }
}

function isSame(a: Condition | undefined, b: Condition | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message
}
