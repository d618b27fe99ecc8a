import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { inNodes } from '../world/resolve-limit.ts'
import type { Cause } from '../world/observations.ts'
import type { RecordedRelease } from '../world/stops.ts'
import type { RecordedTerms } from '../world/terms.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G9, for a failing version: no pod is deleted for it after the watches of the deciding process had reported failures on more nodes than
 * are tolerated. A status need not say so yet. Counts only nodes that were healthy when we updated them. Counts only waiting reasons that
 * follow a failure; timeouts are not judged. A Rollout that is disabled or deleted and comes back changes nothing; another revision in
 * between does.
 */
export function createFailureJudge({ world, observations, breach }: JudgeParts): Judge {
  const failing = new Map<string, Failing>()
  const fair = new Set<string>()
  const accepted = new Map<string, ReadonlySet<string>>()
  const released = new Map<string, string>()
  const retried = new Map<string, { readonly retry: string | undefined; readonly t: number }>()

  function judgeDeletion(deletion: Deletion): void {
    const { daemonSet, pod, atMs } = deletion
    const { revision } = daemonSet.orders
    const stable = daemonSet.latest?.annotations?.[STABLE]
    if (revision === undefined || stable === undefined || stable === revision) return
    for (const terms of daemonSet.terms.possible(deletion.decision, observations)) if (!isBroken(deletion, terms)) return
    const nodes = failedNodes(deletion, undefined).join(', ')
    breach({ guarantee: 'G9', atMs, node: pod.node, text: `revision ${revision} had failed on ${nodes}, and the watches had reported it` })
  }

  function isBroken(deletion: Deletion, terms: RecordedTerms | undefined): boolean {
    const { failure } = terms ?? {}
    if (failure?.action === 'Continue') return false
    const tolerated = inNodes(failure?.maxFailedNodes ?? 0, deletion.daemonSet.mostWanted(deletion.decision, observations))
    return failedNodes(deletion, terms).length > tolerated
  }

  function failedNodes({ daemonSet, decision, pod: { node: taken } }: Deletion, terms: RecordedTerms | undefined): readonly string[] {
    const key = keyOf(daemonSet)
    const names: string[] = []
    for (const { name, wanted, pods } of daemonSet.nodes()) {
      if (!wanted || name === taken || !fair.has(`${key} ${name}`) || accepted.get(key)?.has(name) === true) continue
      for (const { uid, ended, last } of pods.values()) {
        const found = failing.get(uid)
        if (ended !== null || last.hash !== daemonSet.orders.revision || found === undefined) continue
        if (terms?.failure?.ignoreReasons?.includes(found.reason) === true || found.cause.t <= (retried.get(key)?.t ?? 0)) continue
        if (observations.hasSeen(decision, found.cause)) names.push(name)
      }
    }
    return names
  }

  function followPod(write: RecordedWrite): void {
    const { uid, waiting } = write.o as unknown as RecordedPod
    if (write.type === 'DELETED' || waiting === undefined || !fatal.has(waiting)) return void failing.delete(uid)
    const known = failing.get(uid)
    if (known === undefined) failing.set(uid, { reason: waiting, cause: { t: write.t, rv: write.rv, of: 'pods' } })
  }

  function followRelease(write: RecordedWrite): void {
    const { spec, status } = write.o as unknown as RecordedRelease
    const story = spec?.workloadRef === undefined ? undefined : world.story(write.namespace, spec.workloadRef.name)
    if (story === undefined) return
    const key = keyOf(story)
    const isOther = followRevision(key, spec?.tranche?.canaryRevision)
    accepted.set(key, new Set([...(accepted.get(key) ?? []), ...(status?.failure?.accepted ?? [])]))
    const { retry } = spec?.tranche ?? {}
    if (isOther || (retry !== undefined && retried.get(key)?.retry !== retry)) retried.set(key, { retry, t: write.t })
  }

  /** @returns whether the revision differs from the last one released; pods that ran it before are not part of its release */
  function followRevision(key: string, revision: string | undefined): boolean {
    if (revision === undefined || released.get(key) === revision) return false
    released.set(key, revision)
    for (const id of fair) if (id.startsWith(`${key} `)) fair.delete(id)
    return true
  }

  return {
    onDeletion(deletion) {
      judgeDeletion(deletion)
      const { daemonSet, pod } = deletion
      const node = daemonSet.node(pod.node)
      const permit = daemonSet.orders.flight?.permits?.find(({ podUid }) => podUid === pod.uid)
      const id = `${keyOf(daemonSet)} ${pod.node}`
      if (node?.up === true && node.node?.ready === 'True' && permit?.wasBad !== true) fair.add(id)
      else fair.delete(id)
    },
    onWrite(write) {
      if (write.kind === 'Pod') followPod(write)
      else if (write.kind === 'BatchRelease') followRelease(write)
    },
  }
}

/** Waiting reason that only a failure has, and the write that first reported it. */
interface Failing {
  readonly reason: string
  readonly cause: Cause
}

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'
const fatal: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ErrImagePull',
  'ImagePullBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

function keyOf({ namespace, name }: DaemonSetStory): string {
  return `${namespace}/${name}`
}
