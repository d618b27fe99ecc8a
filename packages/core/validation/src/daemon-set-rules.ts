import type { ProblemEntry } from './rule.ts'

const rollingUpdate = 'spec.updateStrategy.rollingUpdate'
const budgetFix = 'set it to 1 or more, or to a percentage such as "10%"'
const ownKeyFix = 'remove the annotation; the controller writes it'

/** Rules about DaemonSets: what a release needs of them, and our annotations. */
export const daemonSetRules = {
  BudgetSurge: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxSurge`,
    says: 'a release in steps replaces pods in place, and surge cannot be had under OnDelete',
    fix: 'set maxSurge to 0 and maxUnavailable to 1 or more',
    reason: 'BudgetZero',
  },
  BudgetNothing: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'no node may be without its pod, so no pod can be replaced',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  BudgetUnreadable: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'it is neither a whole number nor a percentage up to 100%, so no node may be taken',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  KeyPartition: key('rollouts.kruise.io/daemonset-partition', 'it is a whole number from 0: the nodes to keep on the old revision'),
  KeyCanaryRevision: key('rollouts.kruise.io/daemonset-canary-revision', 'it is the controller-revision-hash that is released'),
  KeyStableRevision: key('rollouts.kruise.io/daemonset-stable-revision', 'it is the controller-revision-hash that is replaced'),
  KeyControlInfo: key('batchrelease.rollouts.kruise.io/control-info', 'it is JSON with name and uid of the BatchRelease in charge'),
  KeyInProgressing: key('rollouts.kruise.io/in-progressing', 'it is JSON such as {"rolloutName":"node-agent"}'),
  KeyOriginalStrategy: {
    ...key('rollouts.kruise.io/daemonset-original-update-strategy', 'it is the type to restore: RollingUpdate or OnDelete'),
    fix: 'set it to RollingUpdate or OnDelete, whichever the DaemonSet had; without a type the strategy stays OnDelete at the end',
  },
  KeyPaused: {
    ...key('tranche.dev/paused', 'it stops every deletion, whatever it says'),
    fix: 'set spec.strategy.paused of the Rollout in its place',
  },
  KeyRollout: key('tranche.dev/rollout', 'it is the name of the Rollout that the DaemonSet is bound to'),
  KeyFrozen: key('tranche.dev/frozen', 'it is JSON that says what was left when a Rollout went'),
  KeyReverted: key('tranche.dev/reverted', 'it is the moment of the abort for which the stable template was put back'),
  KeyUnsettled: key('tranche.dev/unsettled', 'it is JSON that says on which nodes the last release had deleted pods'),
} as const satisfies Record<string, ProblemEntry>

function key(annotation: string, says: string) {
  return { of: 'DaemonSet', path: `metadata.annotations[${annotation}]`, says, fix: ownKeyFix, reason: 'InvalidSpec' } as const
}
