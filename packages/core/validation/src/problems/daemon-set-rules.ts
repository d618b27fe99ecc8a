import type { ProblemEntry } from './rule.ts'

const rollingUpdate = 'spec.updateStrategy.rollingUpdate'
const budgetFix = 'set it to 1 or more, or to a percentage such as "10%"'
const ownKeyFix = 'remove the annotation; the controller writes it'

/** Rules about DaemonSets: the budget that a release needs, and the annotations that Tranche owns. */
export const daemonSetRules = {
  BudgetSurge: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxSurge`,
    says: 'OnDelete has no surge: a release in steps replaces pods in place',
    fix: 'set maxSurge to 0 and maxUnavailable to 1 or more',
    reason: 'BudgetZero',
  },
  BudgetNothing: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'the budget is zero nodes, so no pod can be replaced',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  BudgetUnreadable: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'it must be a whole number or a percentage up to 100%; until then no pod can be replaced',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  KeyPartition: key('rollouts.kruise.io/daemonset-partition', 'it must be a whole number from 0: the nodes to keep on the old revision'),
  KeyCanaryRevision: key('rollouts.kruise.io/daemonset-canary-revision', 'it must be the controller-revision-hash being released'),
  KeyStableRevision: key('rollouts.kruise.io/daemonset-stable-revision', 'it must be the controller-revision-hash being replaced'),
  KeyControlInfo: key('batchrelease.rollouts.kruise.io/control-info', 'it must be JSON with name and uid of the BatchRelease in charge'),
  KeyInProgressing: key('rollouts.kruise.io/in-progressing', 'it must be JSON such as {"rolloutName":"node-agent"}'),
  KeyOriginalStrategy: {
    ...key('rollouts.kruise.io/daemonset-original-update-strategy', 'it must be the strategy type to restore: RollingUpdate or OnDelete'),
    fix: 'set it to the type that the DaemonSet had, RollingUpdate or OnDelete; otherwise the strategy stays OnDelete after the release',
  },
  KeyPaused: {
    ...key('tranche.dev/paused', 'any value stops every deletion, and only "true" is valid'),
    fix: 'remove it, and set spec.strategy.paused of the Rollout instead',
  },
  KeyRollout: key('tranche.dev/rollout', 'it must be the name of the Rollout that the DaemonSet is bound to'),
  KeyFrozen: key('tranche.dev/frozen', 'it must be JSON that records the state left when a Rollout was disabled or deleted'),
  KeyReverted: key('tranche.dev/reverted', 'it must be the time of the abort that restored the stable template'),
  KeyUnsettled: key('tranche.dev/unsettled', 'it must be JSON that names the nodes whose pods the last release deleted'),
} as const satisfies Record<string, ProblemEntry>

function key(annotation: string, says: string) {
  return { of: 'DaemonSet', path: `metadata.annotations[${annotation}]`, says, fix: ownKeyFix, reason: 'InvalidSpec' } as const
}
