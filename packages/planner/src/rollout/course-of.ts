import type { ProgressingReason, StalledReason } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type Problem, problemsText, validateBinding, validateSettings, validateSpec } from '@tranche/validation'
import { discoverRevisions } from '../release/discover-revisions.ts'
import type { Course } from './course.ts'
import { goingCourse } from './going-course.ts'
import { frozenStable } from './frozen-text.ts'
import { heedWishes } from './heed-wishes.ts'
import { progressingCourse } from './progressing-course.ts'
import { isForeign } from './release-report.ts'
import { restingCourse } from './resting-course.ts'
import type { RolloutView } from './rollout-view.ts'
import { peerText } from '../peer-activity.ts'
import { takenOver } from './taken-over.ts'
import { completedCanary } from './start-course.ts'

/** Where the Rollout goes from where it stands. */
export function courseOf(view: RolloutView, before: Course): Course {
  const { rollout, daemonSet } = view
  if (rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true) return goingCourse(view, before)
  if (isForeign(view)) return stalledCourse(before, 'ForeignControl', foreignText(view))
  if (view.peer !== null) {
    return { ...stalledCourse(before, 'PeerActive', peerText(view.peer)), recheckAfterMs: view.peer.activeForMs }
  }
  if (view.schemaGap !== undefined) return stalledCourse(before, 'CRDOutdated', view.schemaGap)
  const problems = problemsOf(view)
  const [first] = problems
  if (first !== undefined) return stalledCourse(before, first.reason, problemsText(problems))
  if (daemonSet === undefined) return stalledCourse(before, 'WorkloadNotFound', notFoundText(view))
  const discovery = discoverRevisions({ daemonSet, revisions: view.revisions, fleet: view.fleet, lastStable: before.stableRevision })
  if (discovery.kind === 'pending')
    return { ...before, message: `waiting for the DaemonSet controller to observe generation ${daemonSet.metadata.generation ?? 0}` }
  return before.phase === 'Progressing'
    ? progressingCourse(view, daemonSet, before, discovery)
    : restingCourse(view, daemonSet, before, discovery)
}

function problemsOf({ rollout, others, daemonSet, fleet }: RolloutView): readonly Problem[] {
  const boundTo = daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] ?? null
  return [
    ...validateSpec(rollout, { desired: daemonSet === undefined ? null : fleet.desired }),
    ...validateSettings(rollout),
    ...validateBinding(rollout, others, boundTo),
  ]
}

/** What the status says already; what somebody wrote into it that cannot be taken is put back. */
export function courseBefore(view: RolloutView): Course {
  const status = view.rollout.status
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  const succeeded = status?.conditions?.find(({ type }) => type === 'Succeeded')?.status
  const heeded = heedWishes(view.rollout)
  const taken = takenOver(status, heeded?.canary ?? completedCanary(view, ''))
  return {
    phase: status?.phase ?? 'Initial',
    reason: (progressing?.reason as ProgressingReason | undefined) ?? null,
    ...taken,
    stableRevision: taken.stableRevision ?? frozenStable(view),
    succeeded: succeeded === undefined ? null : succeeded === 'True',
    heldRevisions: status?.heldRevisions ?? [],
    acceptedWishes: status?.acceptedWishes ?? {},
    rollbackFrom: status?.rollbackFrom,
    message: status?.message ?? '',
    stalled: null,
    warning: heeded?.warning ?? null,
    recheckAfterMs: null,
    blocked: false,
    goesOn: false,
  }
}

function stalledCourse(before: Course, reason: StalledReason, message: string): Course {
  return { ...before, message, stalled: { reason, message }, blocked: true }
}

function foreignText({ rollout }: RolloutView): string {
  return `the BatchRelease ${rollout.metadata.name} exists and is not of this Rollout; delete that BatchRelease first`
}

function notFoundText({ rollout }: RolloutView): string {
  const { name } = rollout.spec.workloadRef
  return `spec.workloadRef.name is "${name}": there is no such DaemonSet in namespace ${rollout.metadata.namespace ?? ''}; create it or name another one`
}
