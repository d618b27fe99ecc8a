import type { BatchRelease, Failure, ReleaseNodeRules, ReleasePlan, Rollout } from '@tranche/api-schema'
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
import type { ReleaseFacts } from './release-facts.ts'

/** What every report looks at, worked out once. */
export interface Outline {
  readonly facts: ReleaseFacts
  readonly fleet: FleetView
  /** The BatchRelease, where it is of this Rollout and speaks of the release that the Rollout means. */
  readonly release: BatchRelease | undefined
  /** Which revision the template of the DaemonSet is now. */
  readonly discovery: Discovery
  /** Revision being released, or the last that was; empty while nobody can tell. */
  readonly canary: string
  /** Revision to go back to; undefined while nobody can tell. */
  readonly stable: string | undefined
  /** Revision that the release replaces, or the last one did; undefined while nobody can tell. */
  readonly replaced: string | undefined
  /** How long a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Which nodes a batch may take, as the release says it; between releases as the steps say it. */
  readonly rules: ReleaseNodeRules | undefined
  /** Batch that goes on, from 0; null: all nodes. */
  readonly batch: number | null
  readonly plan: ReleasePlan
  /** What was found of the version that is being released; undefined where nothing. */
  readonly failure: Failure | undefined
}

/** Reads the facts. */
export function outlineOf(facts: ReleaseFacts): Outline {
  const { rollout, daemonSet, revisions } = facts
  const fleet = facts.fleet ?? NO_FLEET
  const canaryStatus = rollout.status?.canaryStatus
  const lastStable = rollout.status?.stableRevision
  const discovery: Discovery =
    daemonSet === undefined ? { kind: 'pending', why: 'revision' } : discoverRevisions({ daemonSet, revisions, fleet, lastStable })
  const found = discovery.kind === 'found' ? discovery : undefined
  // Of a DaemonSet that is not under control the status speaks no more.
  const said = rollout.status?.phase === 'Disabled' ? undefined : canaryStatus
  const canary = nonEmpty(said?.canaryRevision) ?? found?.canary ?? ''
  const replaced = nonEmpty(said?.stableRevision)
  const release = releaseOf(facts, canary)
  return {
    facts,
    fleet,
    release,
    discovery,
    canary,
    stable: (isUnderWay(rollout) ? undefined : lastStable) ?? replaced ?? lastStable ?? found?.stable,
    replaced: release?.spec.tranche?.stableRevision ?? replaced,
    minReadyMs: (daemonSet?.spec.minReadySeconds ?? 0) * 1000,
    rules: release === undefined ? nodeRulesFor(rollout, undefined) : release.spec.tranche?.nodes,
    batch: release?.spec.releasePlan.batchPartition ?? null,
    plan: release?.spec.releasePlan ?? { batches: batchesOf(rollout), enableExtraWorkloadForCanary: false },
    failure: failureOf(release),
  }
}

/** Counts where the present batch stands, or where all nodes stand while there is none; costs what has changed since the last count. */
export function progressOf({ facts, fleet, canary, replaced: stable, minReadyMs, rules, batch, plan }: Outline): BatchProgress {
  return batchProgress({ fleet, revision: canary, stable, minReadyMs, monotonicMs: facts.monotonicMs, plan, batch, nodes: rules })
}

/** Nodes that are passed over: NotReady, excluded, or gone while they were being updated. */
export function skippedNodes({ skipped, excluded, away }: BatchProgress): readonly string[] {
  return [...skipped, ...excluded, ...away]
}

/** Images of the revision that the report speaks of, containers in order: those of the template where its history does not know it. */
export function imagesOf({ facts: { daemonSet, revisions }, canary }: Outline): readonly string[] {
  const known = daemonSet === undefined ? undefined : revisions.find((revision) => hashOf(revision) === canary)
  const template = (known === undefined ? undefined : (templateOf(known) as PodTemplate | undefined)) ?? daemonSet?.spec.template
  return (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
}

/** One that another made, or that is still of another revision, says nothing of this release. */
function releaseOf({ rollout, release }: ReleaseFacts, canary: string): BatchRelease | undefined {
  if (release === undefined || isForeign({ rollout, release })) return undefined
  return (release.spec.tranche?.canaryRevision ?? canary) === canary ? release : undefined
}

function failureOf(release: BatchRelease | undefined): Failure | undefined {
  const failure = release?.status?.failure
  return failure?.release === release?.spec.tranche?.release ? failure : undefined
}

/** A release runs, or is being ended: until it is over the stable revision is the one that it replaces. */
export function isUnderWay({ status }: Rollout): boolean {
  return status?.phase === 'Progressing' || status?.phase === 'Terminating' || status?.phase === 'Disabling'
}

function batchesOf(rollout: Rollout): NonNullable<ReleasePlan['batches']> {
  return stepsOf(rollout).map(({ replicas = '100%' }) => ({ canaryReplicas: replicas }))
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

const NO_FLEET: FleetView = { nodes: [], desired: 0, blocks: [] }
