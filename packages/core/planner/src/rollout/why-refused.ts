import type { BatchRelease, Rollout, RolloutAction, StalledReason } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { isPending } from './actions/answer-action.ts'
import { currentState, nextState } from './states/next-state.ts'
import { actionRefusal, type ActionContext } from './actions/refuse-action.ts'
import type { RolloutView } from './view/rollout-view.ts'
import { hasLostStepNodes } from './view/step-nodes.ts'

/** What a client other than the controller knows about a Rollout. */
export interface KnownRollout {
  readonly rollout: Rollout
  /** BatchRelease with the Rollout's name; undefined where it does not exist. */
  readonly release: BatchRelease | undefined
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  /** Undefined without a DaemonSet. */
  readonly fleet: FleetView | undefined
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/** Predicts why an action would be refused; null where it would be accepted. */
export type Refusals = (action: RolloutAction) => string | null

/** Reasons that only the controller can determine; taken from its status. */
const seenByController: readonly StalledReason[] = [
  'WorkloadTaken',
  'CRDOutdated',
  'OpenKruiseActive',
  'PolicyNotFound',
  'PolicyInvalid',
  'ConfigUnpinned',
]

/** An abort is carried out nevertheless (G9). */
const ofPolicy: readonly StalledReason[] = ['PolicyNotFound', 'PolicyInvalid', 'ConfigUnpinned']

/**
 * What the controller would answer to actions written now. A forecast for clients that offer or refuse actions; the
 * controller's own answer, at the time it reads the action, counts (G10).
 */
export function refusalsFor(known: KnownRollout): Refusals {
  const view = toView(known)
  const stalled = known.rollout.status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')
  if (stalled === undefined || !seenByController.some((reason) => reason === stalled.reason)) return refusalsIn(view)
  const takesAborts = ofPolicy.some((reason) => reason === stalled.reason) || hasLostStepNodes(known.rollout)
  return (action) => (action.type === 'abort' && takesAborts ? refusalsIn(view)(action) : `the Rollout is stalled: ${stalled.message}`)
}

function refusalsIn(view: RolloutView): Refusals {
  if (isPending(view)) return () => 'the released revision is not known yet: the DaemonSet controller has not observed the template'
  const before = currentState(view)
  const standing: ActionContext = { before, decided: nextState(view, before) }
  return (action) => actionRefusal(view, standing, action)
}

function toView({ rollout, release, daemonSet, revisions, fleet, nowMs, monotonicMs }: KnownRollout): RolloutView {
  return {
    rollout,
    daemonSet,
    revisions,
    fleet: fleet ?? NO_FLEET,
    former: undefined,
    release,
    others: [],
    policy: { kind: 'none' },
    strategyScope: 'binding',
    kruise: null,
    statusWrittenMs: null,
    nowMs,
    monotonicMs,
  }
}

const NO_FLEET: FleetView = { nodes: [], desired: 0, blocks: [] }
