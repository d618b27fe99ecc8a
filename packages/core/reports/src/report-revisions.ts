import {
  type HistoryReport,
  type Outcome,
  type RecordedAction,
  RECORDED_ACTIONS_MAX,
  type ReleaseRecord,
  type ReleaseReport,
  type RevisionReport,
} from '@tranche/api-schema'
import { changedPins } from '@tranche/config'
import { type ControllerRevision, parseTime, type PodTemplate } from '@tranche/kube-types'
import { hashOf, heldTemplate, nodesByHash, templateOf } from '@tranche/planner'
import { recordedActionsOf, resultOfAction, observedChangesOf } from '@tranche/actions'
import { formerIn, roleOf } from './node-state.ts'
import { outcomeOf } from './outcome-of.ts'
import { isReleaseUnderWay, type Outline, outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** The revisions of the DaemonSet, newest first. */
export function reportRevisions(facts: ReleaseFacts): readonly RevisionReport[] {
  const outline = outlineOf(facts)
  const nodes = nodesByHash(outline.fleet)
  const sorted = facts.revisions.toSorted((a, b) => b.revision - a.revision)
  return sorted.map((revision) => ({
    ...revisionReport(outline, revision, nodes.get(hashOf(revision)) ?? 0),
    ...changedConfig(revision, comparedWith(outline, revision)),
  }))
}

/**
 * The revision whose config a revision changes: of a running release, the one that it replaces; else the one that was created before. A rollback
 * gives the revision that it restores the highest number, and the number of a revision then says nothing about what it changed.
 */
function comparedWith({ facts, canary, replaced }: Outline, revision: ControllerRevision): ControllerRevision | undefined {
  const { rollout, revisions } = facts
  if (isReleaseUnderWay(rollout) && hashOf(revision) === canary && replaced !== canary) {
    const known = revisions.find((one) => hashOf(one) === replaced)
    if (known !== undefined) return known
  }
  return revisions.filter((one) => isOlder(one, revision)).toSorted((a, b) => (isOlder(a, b) ? 1 : -1))[0]
}

function isOlder(a: ControllerRevision, b: ControllerRevision): boolean {
  const [ofA, ofB] = [a, b].map(({ metadata }) => parseTime(metadata.creationTimestamp) ?? 0) as [number, number]
  return ofA === ofB ? a.revision < b.revision : ofA < ofB
}

/** History of a Rollout: revisions, releases, rollbacks and recorded actions. */
export function reportHistory(facts: ReleaseFacts): HistoryReport {
  const { rollout, daemonSet } = facts
  const actions = new Map<string, RecordedAction>()
  for (const action of [...recordedActionsOf(daemonSet), ...recordedActionsOf(rollout)]) actions.set(action.id, action)
  const revisions = reportRevisions(facts)
  return {
    revisions,
    releases: releaseReports(facts, revisions),
    heldRevisions: rollout.status?.heldRevisions ?? [],
    observedChanges: observedChangesOf(rollout).toReversed(),
    actions: [...actions.values()]
      .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
      .slice(0, RECORDED_ACTIONS_MAX)
      .map((action) => ({ ...action, ...resultOfAction(action, rollout) })),
  }
}

function releaseReports(facts: ReleaseFacts, revisions: readonly RevisionReport[]): readonly ReleaseReport[] {
  const records = facts.rollout.status?.releases ?? []
  return records.toReversed().map(({ result, ...record }) => {
    const known = revisions.find(({ revision }) => revision === record.revision)
    return {
      ...record,
      ...(known !== undefined && { number: known.number }),
      images: known?.images ?? [],
      ...(known?.changedConfig !== undefined && { changedConfig: known.changedConfig }),
      result: result ?? outcomeOfOpen(facts, record),
    }
  })
}

/** A release that is being rolled back did not fail where the version failed to which it returns. */
function outcomeOfOpen(facts: ReleaseFacts, { revision, failure }: ReleaseRecord): Outcome {
  const outcome = outcomeOf(facts)
  const isOther = failure === undefined && facts.rollout.status?.rollbackFrom === revision
  return isOther && (outcome === 'Failed' || outcome === 'Blocked') ? 'RolledBack' : outcome
}

function revisionReport(outline: Outline, revision: ControllerRevision, nodes: number): RevisionReport {
  const { metadata } = revision
  const template = templateOf(revision) as PodTemplate | undefined
  const changeCause = metadata.annotations?.['kubernetes.io/change-cause']
  return {
    revision: hashOf(revision),
    number: revision.revision,
    createdAt: metadata.creationTimestamp ?? '',
    role: revisionRole(outline, hashOf(revision), nodes),
    held: isHeld(outline, revision),
    nodes,
    images: (template?.spec?.containers ?? []).flatMap(({ image }) => image ?? []),
    ...(changeCause !== undefined && { changeCause }),
  }
}

function changedConfig(revision: ControllerRevision, before: ControllerRevision | undefined): Pick<RevisionReport, 'changedConfig'> {
  const changed = before === undefined ? [] : changedPins(templateOf(before), templateOf(revision))
  return changed.length === 0 ? {} : { changedConfig: changed }
}

/** A former or superseded revision that no node runs has no role. */
function revisionRole(outline: Outline, hash: string, nodes: number): RevisionReport['role'] {
  const role = roleOf(hash, { ...outline, former: formerIn(outline) })
  return nodes === 0 && (role === 'former' || role === 'superseded') ? 'none' : role
}

/** Compares templates, because a revision may be recreated with the same template. */
function isHeld({ facts }: Outline, revision: ControllerRevision): boolean {
  const held = facts.rollout.status?.heldRevisions ?? []
  const template = templateOf(revision)
  return template !== undefined && heldTemplate(held, { spec: { template } }) !== undefined
}
