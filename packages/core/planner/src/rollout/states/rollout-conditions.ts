import { type ConditionStatus, type Rollout, type RolloutCondition, type RolloutConditionType, sizeLimits } from '@tranche/api-schema'
import {
  CONFIG_FIX,
  type ConfigObject,
  configText,
  judgeConfig,
  PINNED_CONFIG_ANNOTATION,
  pinKey,
  type Pins,
  pinsOf,
} from '@tranche/config'
import { daemonSetAnnotations, parseTime, clipText } from '@tranche/kube-types'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { blockedConfigRevision } from '../view/blocked-config.ts'
import { retryHeldText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

interface Said {
  readonly type: RolloutConditionType
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
}

/**
 * The conditions of a Rollout: OpenKruise's (`Progressing`, `Succeeded`, `Terminating`), the three that Flux reads (`Ready`,
 * `Reconciling`, `Stalled`), `StrategyRestored`, and `ConfigUnversioned`. A transition time changes only with the status.
 */
export function toConditions(view: RolloutView, state: RolloutState): readonly RolloutCondition[] {
  const said = [...progressing(state), ...terminating(state), ...health(state), ...strategy(view, state), ...config(view)]
  const before = view.rollout.status?.conditions ?? []
  return said.map((condition) =>
    stamped(
      { ...condition, message: clipText(condition.message, sizeLimits.message) },
      before.find(({ type }) => type === condition.type),
      view.nowMs,
    ),
  )
}

function progressing({ phase, reason, succeeded, message, rollbackFrom, goesOn }: RolloutState): Said[] {
  const conditions: Said[] = []
  const isOn = phase === 'Progressing' || (goesOn && reason !== 'Completed')
  if (reason !== null)
    conditions.push({
      type: 'Progressing',
      status: isOn ? 'True' : 'False',
      reason,
      message: isOn ? message : 'the release is over',
    })
  if (succeeded === null) return conditions
  const why = succeeded || rollbackFrom === undefined ? '' : `revision ${rollbackFrom} was rolled back`
  conditions.push({ type: 'Succeeded', status: succeeded ? 'True' : 'False', reason: '', message: why })
  return conditions
}

function terminating({ phase, message }: RolloutState): Said[] {
  return phase === 'Terminating' ? [{ type: 'Terminating', status: 'True', reason: 'InTerminating', message }] : []
}

function health(state: RolloutState): Said[] {
  const { phase, stalled, message } = state
  const busy = phase === 'Progressing' || phase === 'Disabling' || phase === 'Terminating' || phase === 'Initial'
  const ready = !busy && stalled === null
  return [
    { type: 'Ready', status: ready ? 'True' : 'False', reason: stalled?.reason ?? phase, message },
    { type: 'Reconciling', status: busy && stalled === null ? 'True' : 'False', reason: phase, message: busy ? message : '' },
    {
      type: 'Stalled',
      status: stalled === null ? 'False' : 'True',
      reason: stalled?.reason ?? 'NotStalled',
      message: stalled?.message ?? '',
    },
  ]
}

/** Set from the end of a release on: nodes left behind keep the DaemonSet on `OnDelete`. */
function strategy(view: RolloutView, { phase, reason }: RolloutState): Said[] {
  if (phase !== 'Healthy' || reason !== 'Completed') return []
  const { present, completed, nodesLeft, message: waitsFor } = summarizeBatchRelease(view)
  // A left node that is being updated now still counts. A BatchRelease that is about to be deleted leaves none.
  if (present && !completed && (nodesLeft !== null || wasLeftBehind(view)))
    return [{ type: 'StrategyRestored', status: 'False', reason: 'NodesLeft', message: nodesLeft ?? waitsFor ?? '' }]
  if (view.strategyScope === 'binding' || isBoundStill(view))
    return [{ type: 'StrategyRestored', status: 'True', reason: 'Bound', message: 'OnDelete stays while the Rollout is bound' }]
  return [{ type: 'StrategyRestored', status: 'True', reason: 'Restored', message: 'the update strategy is as it was before the release' }]
}

function wasLeftBehind(view: RolloutView): boolean {
  return strategyRestored(view.rollout)?.status === 'False'
}

/** Whether admission took the strategy over from the binding, and no release has given it back yet. */
function isBoundStill(view: RolloutView): boolean {
  const isTakenOver = daemonSetAnnotations.originalUpdateStrategy in (view.daemonSet?.metadata.annotations ?? {})
  return isTakenOver && strategyRestored(view.rollout)?.reason === 'Bound'
}

/** Absent where every ConfigMap and Secret of the template is part of its version, and where Tranche does not release it. */
function config(view: RolloutView): Said[] {
  const { rollout, daemonSet, immutableConfigMaps, configHold } = view
  if (daemonSet === undefined || rollout.spec.disabled === true) return []
  if (configHold !== undefined) {
    const { reason, message } = configHold
    return [{ type: 'ConfigUnversioned', status: 'True', reason, message }]
  }
  const pins = pinsOf(daemonSet.spec.template)
  const isImmutable = (object: ConfigObject): boolean =>
    pins.has(pinKey(object)) || (object.kind === 'ConfigMap' && immutableConfigMaps?.has(object.name) === true)
  const found = judgeConfig(daemonSet.spec.template, isImmutable)
  if (found === null) return keptCopies(view, pins)
  const areSecretsLeft = view.pinsSecrets === false && found.references.some(({ kind }) => kind === 'Secret')
  const message = `${configText(found)}; ${CONFIG_FIX}${areSecretsLeft ? `; ${SECRETS_LEFT}` : ''}${absentText(view)}`
  return [
    found.hasChecksum
      ? { type: 'ConfigUnversioned', status: 'False', reason: 'ChecksumOnly', message }
      : { type: 'ConfigUnversioned', status: 'True', reason: 'NamesWithoutHash', message },
  ]
}

function absentText({ absentConfig = [], rollout }: RolloutView): string {
  if (absentConfig.length === 0) return ''
  const [verb, pronoun] = absentConfig.length === 1 ? ['does', 'it'] : ['do', 'them']
  return `; config: Pin copies ${namesText(absentConfig.map(pinKey))} of namespace ${rollout.metadata.namespace ?? ''}, which ${verb} not exist, once you create ${pronoun}: create ${pronoun}, or correct the name in the template`
}

const SECRETS_LEFT =
  'config: Pin copies no Secret of this namespace, because the installation does not allow it: to pin them too, list the namespace in rbac.pinSecretNamespaces of the chart'

/** Copies that stay although their objects have changed. */
function keptCopies(view: RolloutView, pins: Pins): Said[] {
  const { policy, rolledBackConfig = [], pinsSecrets } = view
  const said = { type: 'ConfigUnversioned', status: 'False' } as const
  const secrets = [...pins.keys()].filter((key) => key.startsWith('Secret/'))
  if (pinsSecrets === false && secrets.length > 0) {
    const message = `pods read copies of ${namesText(secrets)} that follow no change; ${SECRETS_LEFT}`
    return [{ ...said, reason: 'PinnedBefore', message }]
  }
  const isOver = policy.kind === 'none' || (policy.kind === 'found' && policy.policy.spec.config !== 'Pin')
  if (isOver && pins.size > 0) {
    const message = `pods read copies of ${namesText([...pins.keys()])} that follow no change, because the ReleasePolicy no longer asks for config: Pin; remove the annotation ${PINNED_CONFIG_ANNOTATION} from the template to end that`
    return [{ ...said, reason: 'PinnedBefore', message }]
  }
  if (rolledBackConfig.length === 0) return []
  const message = `pods read an earlier content of ${namesText(rolledBackConfig.map(pinKey))}, because of a rollback, and the present content is released again once it changes; to release it as it is, ${releaseAfterAll(view)}`
  return [{ ...said, reason: 'RolledBack', message }]
}

/** What releases the content that was rolled back. If its revision is blocked, neither of the two is enough. */
function releaseAfterAll(view: RolloutView): string {
  const blocked = blockedConfigRevision(view, view.rolledBackConfig ?? [])
  const retry = blocked === undefined ? '' : `, and run ${retryHeldText(view.rollout, [blocked])}`
  return `remove the annotation ${PINNED_CONFIG_ANNOTATION} from the template${retry}`
}

/** At most ten names: `ConfigMap agent, ConfigMap other`. */
function namesText(keys: readonly string[]): string {
  const shown = keys.slice(0, 10).map((key) => key.replace('/', ' '))
  return `${shown.join(', ')}${keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ''}`
}

/** How the last release left the update strategy: `Restored`, `Bound` or `NodesLeft`; undefined before the first release ends. */
export function strategyRestored({ status }: Rollout): RolloutCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'StrategyRestored')
}

function stamped(said: Said, before: RolloutCondition | undefined, nowMs: number): RolloutCondition {
  const now = new Date(nowMs).toISOString()
  if (before === undefined) return { ...said, lastUpdateTime: now, lastTransitionTime: now }
  const same = before.status === said.status && before.reason === said.reason && before.message === said.message
  // Times that a user may have written into the status, and that are none, are replaced.
  const [updated, changed] = [before.lastUpdateTime, before.lastTransitionTime].map((time) => (parseTime(time) === null ? now : time))
  const isWhole = updated === before.lastUpdateTime && changed === before.lastTransitionTime
  if (same && isWhole) return before
  return { ...said, lastUpdateTime: same ? updated : now, lastTransitionTime: before.status === said.status ? changed : now }
}
