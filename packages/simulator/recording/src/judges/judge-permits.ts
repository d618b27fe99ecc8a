import type { RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRelease } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G7: no permit is lost. A used permit stays in its record until its node has had an available pod since, or is no longer wanted. It may
 * also give way to another permit for the same node.
 */
export function createPermitJudge({ world, query, breach }: JudgeParts): Judge {
  function judgeRecord(write: RecordedWrite, before: RecordedRelease, next: RecordedRelease): void {
    const name = next.spec?.workloadRef?.name
    const story = name === undefined ? undefined : world.story(write.namespace, name)
    const [was, is] = [before.status?.flight, next.status?.flight]
    if (story === undefined || was === undefined || is === undefined || was.workloadUid !== is.workloadUid) return
    story.advance(write.t)
    const kept = new Set((is.permits ?? []).map(({ node }) => node))
    for (const { node, podUid } of was.permits ?? []) {
      const flight = story.node(node)?.flight
      if (kept.has(node) || flight?.uids.has(podUid) !== true) continue
      breach({
        guarantee: 'G7',
        atMs: write.t,
        node,
        text: `${write.actor} removed the permit from the record while the node is in flight`,
      })
    }
  }

  return {
    onWrite(write, before) {
      if (write.kind !== 'BatchRelease' || write.type !== 'MODIFIED' || before === undefined || !query.isOurs(write.actor ?? '')) return
      judgeRecord(write, before as unknown as RecordedRelease, write.o as unknown as RecordedRelease)
    },
  }
}
