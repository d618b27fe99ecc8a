import type { RecordedWrite } from '../recorded-write.ts'
import type { RecordedRollout } from '../world/stops.ts'
import { bindingOf } from './binding.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { actionOf } from './wishes.ts'

/** More held revisions than this a Rollout does not remember. */
const MOST_HELD = 10

/**
 * G12: from when the status says that a revision is held, no permit is given and then used for its template, under whatever hash it comes
 * back, until somebody asks to retry. The status forgets none before, but for one that so many others have come after.
 */
export function createMemoryJudge({ world, query, breach }: JudgeParts): Judge {
  /** Rollout → id of the retry that no status has answered yet: what is held may be forgotten with its answer, and no later. */
  const retries = new Map<string, string>()
  /** Digest → when a status first said that it is held. */
  const heldSince = new Map<string, number>()

  return {
    onDeletion({ daemonSet, pod, atMs, permittedMs }) {
      const rollout = bindingOf(world, daemonSet)
      const { revision } = daemonSet.orders
      const held = rollout?.status?.heldRevisions ?? []
      if (rollout === undefined || revision === undefined || held.length === 0) return
      const template = world.templateOf(revision)
      const same = held.find(
        (one) => one.revision === revision || (template !== undefined && world.templateOf(one.revision ?? '') === template),
      )
      if (same !== undefined && (permittedMs ?? atMs) >= (heldSince.get(same.digest) ?? 0))
        breach({ guarantee: 'G12', atMs, node: pod.node, text: `revision ${revision} holds a template that is held as ${same.revision}` })
    },
    onWrite(write, known) {
      if (write.kind !== 'Rollout') return
      if (write.type === 'DELETED') retries.delete(keyOf(write))
      if (write.type === 'DELETED' || known === undefined) return
      const next = write.o as unknown as RecordedRollout
      const before = known as unknown as RecordedRollout
      for (const { digest } of next.status?.heldRevisions ?? []) if (!heldSince.has(digest)) heldSince.set(digest, write.t)
      if (query.isOurs(write.actor ?? '')) return judgeForgetting(write, before, next)
      const action = actionOf(next)
      if (action?.type === 'retry' && action.id !== actionOf(before)?.id) retries.set(keyOf(write), action.id)
    },
  }

  function judgeForgetting(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const retry = retries.get(keyOf(write))
    const answer = next.status?.lastAction
    if (retry !== undefined && answer?.id === retry) retries.delete(keyOf(write))
    const isAsked = retry !== undefined && (answer?.id !== retry || answer.result === undefined || answer.result === 'Accepted')
    const was = before.status?.heldRevisions ?? []
    const is = new Set((next.status?.heldRevisions ?? []).map(({ digest }) => digest))
    const forgotten = was.filter(({ digest }) => !is.has(digest))
    if (forgotten.length === 0 || is.size >= MOST_HELD || isAsked) return
    const names = forgotten.map(({ revision, digest }) => revision ?? digest).join(', ')
    breach({ guarantee: 'G12', atMs: write.t, text: `${write.actor} forgot that ${names} is held, and nobody had asked to retry` })
  }
}

function keyOf({ namespace, o }: RecordedWrite): string {
  return `${namespace}/${(o as unknown as RecordedRollout).metadata.name}`
}
