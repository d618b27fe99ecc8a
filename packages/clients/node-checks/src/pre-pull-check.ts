import { prePullDefaults, type PrePullRules } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { HelperPods } from '@tranche/cluster'
import { type NodeCheck, type Preparation, SHORT_WORK_MS } from '@tranche/fence'
import { compareResourceVersions } from '@tranche/kube-types'
import { helperManifest, type HelperPod, pulledImages, type PullProgress, pullProgress } from '@tranche/pre-pull'
import { actOnEach } from './act-on-each.ts'
import { blocked, type Check, type CheckTarget, limitedWords } from './check.ts'
import { createTakenNames } from './taken-names.ts'

/** Dependencies of {@link createPrePullCheck}. */
export interface PrePullParts {
  readonly clock: Clock
  /** Undefined if the installation does not allow helper pods. */
  readonly helpers: HelperPods | undefined
  /** @returns uids of the BatchReleases that control a DaemonSet, as the watches show them */
  controlling(): ReadonlySet<string>
  /**
   * Reads live whether a BatchRelease controls its DaemonSet.
   *
   * @throws if there is no clear response
   */
  readsControl(release: HelperPod['release'] & Pick<HelperPod, 'namespace'>, signal: AbortSignal): Promise<boolean>
}

/** Name of the check in its preparations. */
const PRE_PULL = 'prePull'

const NOT_ALLOWED = blocked('PrePullNotAllowed', 'this installation does not allow executors to create helper pods')

/** Time after which a helper pod is looked for again if no watch event comes, in milliseconds. */
const AGAIN_MS = 10_000

/** Time after which a node is asked again whose helper pod has just gone, in milliseconds. */
const GONE_AGAIN_MS = 5_000

/** Age of a helper pod in milliseconds by which the watches of DaemonSets and BatchReleases are no longer behind that of pods. */
const KNOWN_AFTER_MS = 60_000

/**
 * Pulls the new images to a node before its pod is deleted (`prePull`), with a helper pod in which nothing runs. One request creates it and
 * one deletes it; its state comes from a watch. It stays until the old pod is deleted, as evidence for every executor.
 */
export function createPrePullCheck({ clock, helpers, controlling, readsControl }: PrePullParts): Check {
  const taken = createTakenNames(clock)
  return {
    name: PRE_PULL,
    rules(target) {
      const rules = rulesOf(target)
      if (rules === undefined || pulledImages(target.daemonSet.spec.template).length === 0) return undefined
      return { ahead: Math.max(1, rules.parallel ?? target.release.status?.flight?.limit ?? 1) }
    },
    preparations(target) {
      return helpers === undefined ? [] : onePerNode(podsOf(helpers, target)).map((pod) => toPreparation(pod, target, clock))
    },
    async check(target, { node, purpose }, signal) {
      const rules = rulesOf(target)
      if (rules === undefined) return null
      const answer = helpers === undefined ? NOT_ALLOWED : await pull(helpers, { target, node }, signal)
      if (answer.kind === 'pending' || (answer.kind === 'blocked' && !toleratesFailure(rules))) return answer
      return { kind: 'ready', for: purpose === 'ahead' ? 'ahead' : 'deletion' }
    },
    async undo(target, node, signal) {
      const here = helpers === undefined ? [] : podsOf(helpers, target).filter((pod) => pod.node === node)
      // A pod of another revision goes alone: the one of this revision may still be needed.
      const stale = here.filter((pod) => isStale(pod, target))
      const undone = stale.length > 0 ? stale : here.filter((pod) => hasCaughtUp(target, pod, clock))
      for (const pod of undone) await helpers?.delete(pod, signal)
    },
    async sweep(signal) {
      const uids = controlling()
      const isLeft = ({ release, createdMs }: HelperPod): boolean => !uids.has(release.uid) && clock.nowMs() - createdMs > KNOWN_AFTER_MS
      async function remove(pod: HelperPod): Promise<void> {
        // The watch of DaemonSets may be behind for longer.
        const isNeeded = await readsControl({ ...pod.release, namespace: pod.namespace }, signal)
        if (!isNeeded) await helpers?.delete(pod, signal)
      }
      await actOnEach(helpers?.list().filter(isLeft) ?? [], remove, signal)
    },
  }

  async function pull(pods: HelperPods, { target, node }: NodeOf, signal: AbortSignal): Promise<NodeCheck> {
    const revision = target.release.status?.flight?.revision ?? ''
    const pod = podsOf(pods, target).find((one) => one.node === node && one.revision === revision)
    if (pod !== undefined) return answerOf(pod, target, clock)
    if (!pods.isSynced()) return { kind: 'pending', againInMs: 1_000 }
    const manifest = manifestFor(target, node, revision)
    if (manifest === null) return { kind: 'ready', for: 'deletion' }
    if (pods.hasJustGone(manifest.metadata)) return { kind: 'pending', againInMs: GONE_AGAIN_MS }
    const creation = await pods.create(manifest, signal)
    if (creation.kind === 'rejected') return blocked('ImagePull', `the helper pod was rejected: ${creation.message}`)
    if (creation.kind === 'created') taken.forget(manifest.metadata.name)
    else if (taken.isTakenForLong(manifest.metadata.name)) return blocked('ImagePull', takenText(manifest.metadata))
    return { kind: 'pending', againInMs: AGAIN_MS }
  }
}

interface NodeOf {
  readonly target: CheckTarget
  readonly node: string
}

/** Helper pods of the release. A pod of another namespace can only name its uid: it is none of them (L26). */
function podsOf(helpers: HelperPods, { release }: CheckTarget): readonly HelperPod[] {
  const { namespace, uid } = release.metadata
  return helpers.list(uid).filter((pod) => pod.namespace === namespace)
}

/**
 * The first pod of each node and revision, which is the one that answers for the node. Executors create one; users may create others like it,
 * and two states of one node would be asked about for ever.
 */
function onePerNode(pods: readonly HelperPod[]): readonly HelperPod[] {
  const first = new Map<string, HelperPod>()
  for (const pod of pods) {
    const key = `${pod.node}/${pod.revision}`
    if (!first.has(key)) first.set(key, pod)
  }
  return [...first.values()]
}

function rulesOf({ release }: CheckTarget): PrePullRules | undefined {
  return release.spec.tranche?.prePull
}

/** Whether a node that cannot pull is updated anyway. An action of a newer version, which this one does not know, holds the node. */
function toleratesFailure({ onFailure = prePullDefaults.onFailure }: PrePullRules): boolean {
  return onFailure === 'Continue'
}

function isStale({ revision }: HelperPod, target: CheckTarget): boolean {
  return rulesOf(target) === undefined || revision !== target.release.status?.flight?.revision
}

/**
 * Whether this process knows the BatchRelease as the creator of the pod did, or had a minute for it. Before that, it cannot say that no node
 * needs the pod.
 */
function hasCaughtUp({ release }: CheckTarget, { seenAt, createdMs }: HelperPod, clock: Clock): boolean {
  return compareResourceVersions(release.metadata.resourceVersion, seenAt) >= 0 || clock.nowMs() - createdMs > KNOWN_AFTER_MS
}

function toPreparation(pod: HelperPod, target: CheckTarget, clock: Clock): Preparation {
  const rules = rulesOf(target)
  const progress = progressOf(pod, target, clock)
  const isTolerated = progress.kind === 'failed' && rules !== undefined && toleratesFailure(rules)
  const state = isTolerated ? 'ready' : STATES[progress.kind]
  const changesAtMs = progress.kind === 'pulling' ? clock.monotonicMs() + progress.leftMs : null
  const isOld = isStale(pod, target)
  const waits = state === 'begun' && !isOld ? { waits: pullWaits(pod, target, clock) } : {}
  return { node: pod.node, check: PRE_PULL, state, isAhead: true, isStale: isOld, changesAtMs, ...waits }
}

const STATES = { pulled: 'ready', pulling: 'begun', failed: 'failed' } as const satisfies Record<PullProgress['kind'], Preparation['state']>

/** Maximum number of images that a text names. */
const NAMED_IMAGES_MAX = 2

function pullWaits(pod: HelperPod, target: CheckTarget, clock: Clock): NonNullable<Preparation['waits']> {
  const { timeout = prePullDefaults.timeout, onFailure = prePullDefaults.onFailure } = rulesOf(target) ?? {}
  const images = pulledImages(target.daemonSet.spec.template).map(({ image }) => image)
  const more = images.length > NAMED_IMAGES_MAX ? ` and ${images.length - NAMED_IMAGES_MAX} more` : ''
  const words = limitedWords({
    reason: 'Pulling',
    text: `helper pod ${pod.name} pulls ${images.slice(0, NAMED_IMAGES_MAX).join(', ')}${more}`,
    sinceMs: pod.createdMs,
    timeout,
    afterwards: onFailure === 'Continue' ? 'it is updated all the same' : 'it keeps its pod, and pulls again later',
  })
  return { ...words, fromMs: clock.monotonicMs() + pod.createdMs + SHORT_WORK_MS - clock.nowMs() }
}

function answerOf(pod: HelperPod, target: CheckTarget, clock: Clock): NodeCheck {
  const progress = progressOf(pod, target, clock)
  switch (progress.kind) {
    case 'pulled':
      return { kind: 'ready', for: 'deletion' }
    case 'pulling':
      return { kind: 'pending', againInMs: Math.min(AGAIN_MS, progress.leftMs) }
    case 'failed':
      return blocked('ImagePull', progress.message)
    default:
      return progress satisfies never
  }
}

function progressOf(pod: HelperPod, target: CheckTarget, clock: Clock): PullProgress {
  return pullProgress(pod, rulesOf(target)?.timeout ?? prePullDefaults.timeout, clock.nowMs())
}

function takenText({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `the name of the helper pod is taken: pod ${namespace}/${name} is no helper pod of this release, or is being deleted; delete it, or remove its finalizers`
}

function manifestFor({ daemonSet, release }: CheckTarget, node: string, revision: string): ReturnType<typeof helperManifest> {
  const { namespace = '', name } = daemonSet.metadata
  const owner = { name: release.metadata.name, uid: release.metadata.uid }
  const seenAt = release.metadata.resourceVersion
  return helperManifest({ daemonSet: { namespace, name }, template: daemonSet.spec.template, revision, release: owner, seenAt, node })
}
