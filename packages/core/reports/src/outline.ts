import type { BatchRelease, Failure, Permit, ReleaseNodeRules, ReleasePlan, Rollout } from '@tranche/api-schema'
import { begunAt } from '@tranche/fence'
import type { FleetView } from '@tranche/fleet'
import type { PodTemplate } from '@tranche/kube-types'
import {
  batchProgress,
  type BatchProgress,
  type Discovery,
  discoverRevisions,
  hashOf,
  isForeign,
  nodeRulesFor,
  stepsOf,
  templateOf,
} from '@tranche/planner'
import { knownFailure } from '@tranche/verdict'
import { hasLastingStall } from './lasting-stall.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** Derived facts that all reports share. */
export interface Outline {
  readonly facts: ReleaseFacts
  readonly fleet: FleetView
  /** The BatchRelease, if it belongs to this Rollout and its present release. */
  readonly release: BatchRelease | undefined
  /** Revisions of the present template. */
  readonly discovery: Discovery
  /** Revision being released, or the last one; empty while unknown. */
  readonly canary: string
  /** Revision of the present template, if a stall keeps it from being released: the status then describes the one before. */
  readonly waiting: string | undefined
  /** Revision that a rollback restores; undefined while unknown. */
  readonly stable: string | undefined
  /** Revision that this release, or the last one, replaces; undefined while unknown. */
  readonly replaced: string | undefined
  /** Revisions that were stable once, or ran before the first release. */
  readonly former: readonly string[]
  /** Milliseconds that a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Node rules of the release; between releases those of the steps. */
  readonly rules: ReleaseNodeRules | undefined
  /** Index of the running batch, from 0; null for all nodes. */
  readonly batch: number | null
  readonly plan: ReleasePlan
  /** Failure of the version being released; undefined without one. */
  readonly failure: Failure | undefined
}

/** Derives the outline from the facts. */
export function outlineOf(facts: ReleaseFacts): Outline {
  const { rollout, daemonSet, revisions } = facts
  const fleet = facts.fleet ?? NO_FLEET
  const canaryStatus = rollout.status?.canaryStatus
  const lastStable = rollout.status?.stableRevision
  const rolloutCreatedAt = rollout.metadata.creationTimestamp
  const discovery: Discovery =
    daemonSet === undefined
      ? { kind: 'pending', why: 'revision' }
      : discoverRevisions({ daemonSet, revisions, fleet, lastStable, rolloutCreatedAt })
  const found = discovery.kind === 'found' ? discovery : undefined
  // The status of a disabled Rollout no longer describes the DaemonSet.
  const described = rollout.status?.phase === 'Disabled' ? undefined : canaryStatus
  const waiting = hasLastingStall(rollout) && hasOtherCanary(described, found) ? found?.canary : undefined
  // Nothing is released meanwhile: what comes next is the template that waits.
  const said = waiting === undefined || isReleaseUnderWay(rollout) ? described : undefined
  const canary = nonEmpty(said?.canaryRevision) ?? found?.canary ?? ''
  const replaced = nonEmpty(said?.stableRevision)
  const release = releaseOf(facts, canary)
  return {
    facts,
    fleet,
    release,
    discovery,
    canary,
    waiting,
    stable: (isReleaseUnderWay(rollout) ? undefined : lastStable) ?? replaced ?? lastStable ?? found?.stable,
    replaced: release?.spec.tranche?.stableRevision ?? replaced,
    former: (release === undefined ? rollout.status?.formerRevisions : release.spec.tranche?.formerRevisions) ?? [],
    minReadyMs: (daemonSet?.spec.minReadySeconds ?? 0) * 1000,
    rules: release === undefined ? nodeRulesFor(rollout, undefined) : release.spec.tranche?.nodes,
    batch: release?.spec.releasePlan.batchPartition ?? null,
    plan: release?.spec.releasePlan ?? { batches: batchesOf(rollout), enableExtraWorkloadForCanary: false },
    failure: release && knownFailure(release),
  }
}

function hasOtherCanary(said: CanaryStatus | undefined, found: { readonly canary: string } | undefined): boolean {
  return found !== undefined && nonEmpty(said?.canaryRevision) !== undefined && said?.canaryRevision !== found.canary
}

/** Whether the reported revision waits for its release to start. */
export function isYetToStart({ waiting, canary }: Outline): boolean {
  return waiting !== undefined && waiting === canary
}

/** Progress of the present batch, or of all nodes without one. Incremental: costs only the changes since the last call. */
export function progressOf(outline: Outline): BatchProgress {
  const { facts, fleet, canary, former, minReadyMs, rules, batch, plan } = outline
  const stable = comparedStable(outline)
  return batchProgress({
    fleet,
    revision: canary,
    stable,
    former,
    begunAt: outline.release && begunAt(outline.release),
    permits: permitsOf(outline),
    minReadyMs,
    monotonicMs: facts.monotonicMs,
    plan,
    batch,
    nodes: rules,
  })
}

/**
 * Revision that counts as stable where nodes are judged: while a release exists, the one that it replaces, as executors count. Between
 * releases it is the delivered one, as the next release will count.
 */
export function comparedStable({ facts, release, stable, replaced }: Outline): string | undefined {
  return release === undefined && !isReleaseUnderWay(facts.rollout) ? stable : replaced
}

/** Permits in the record of the release. */
export function permitsOf({ release }: Outline): readonly Permit[] {
  return release?.status?.flight?.permits ?? []
}

/** Skipped nodes: NotReady, excluded, or gone during their update. */
export function skippedNodes({ skipped, excluded, away }: BatchProgress): readonly string[] {
  return [...skipped, ...excluded, ...away]
}

/** Images of the reported revision, in the order of the containers; those of the template when the history lacks the revision. */
export function imagesOf({ facts: { daemonSet, revisions }, canary }: Outline): readonly string[] {
  const known = daemonSet === undefined ? undefined : templateIn(revisions, canary)
  return imagesIn(known ?? daemonSet?.spec.template)
}

/** Images of the stable revision; undefined when neither the history nor the BatchRelease has its template. */
export function stableImagesOf({ facts: { daemonSet, revisions }, stable, release }: Outline): readonly string[] | undefined {
  if (daemonSet === undefined || stable === undefined) return undefined
  const { stableTemplate } = release?.status ?? {}
  const kept = stableTemplate?.revision === stable ? (stableTemplate.template as PodTemplate) : undefined
  const template = templateIn(revisions, stable) ?? kept
  return template && imagesIn(template)
}

function templateIn(revisions: ReleaseFacts['revisions'], hash: string): PodTemplate | undefined {
  const known = revisions.find((revision) => hashOf(revision) === hash)
  return known && (templateOf(known) as PodTemplate | undefined)
}

function imagesIn(template: PodTemplate | undefined): readonly string[] {
  return (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
}

/** Ignores a BatchRelease of another owner or another revision. */
function releaseOf({ rollout, release }: ReleaseFacts, canary: string): BatchRelease | undefined {
  if (release === undefined || isForeign({ rollout, release })) return undefined
  return (release.spec.tranche?.canaryRevision ?? canary) === canary ? release : undefined
}

/** Whether a release runs or is ending: until it has ended, the stable revision is the one that it replaces. */
export function isReleaseUnderWay({ status }: Rollout): boolean {
  return status?.phase === 'Progressing' || status?.phase === 'Terminating' || status?.phase === 'Disabling'
}

function batchesOf(rollout: Rollout): NonNullable<ReleasePlan['batches']> {
  return stepsOf(rollout).map(({ replicas = '100%' }) => ({ canaryReplicas: replicas }))
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

type CanaryStatus = NonNullable<NonNullable<Rollout['status']>['canaryStatus']>

const NO_FLEET: FleetView = { nodes: [], desired: 0, blocks: [] }
