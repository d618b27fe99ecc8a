import type { Rule } from './rule.ts'

const canary = 'spec.strategy.canary'
const plan = 'spec.releasePlan'

/** Every rule whose breach is allowed and may surprise: shown as a warning by admission and `lint`, and failing nothing. */
export const adviceRules = {
  KindNearMiss: {
    of: 'any',
    path: 'kind',
    says: 'there is no such kind, and it is nearly one that is checked here',
    fix: 'set it to Rollout, BatchRelease, ReleasePolicy or DaemonSet',
  },
  ApiVersionNearMiss: {
    of: 'any',
    path: 'apiVersion',
    says: 'it is nearly that of a kind that is checked here, and an API server does not take it for that',
    fix: 'set it to that of the kind, such as rollouts.kruise.io/v1beta1',
  },
  OtherWorkload: {
    of: 'Rollout',
    path: 'spec.workloadRef',
    says: 'Tranche acts on DaemonSets of apps/v1 only and leaves this Rollout alone',
    fix: 'leave it to the controller of that kind',
  },
  WorkloadAbsent: {
    of: 'Rollout',
    path: 'spec.workloadRef.name',
    says: 'there is no such DaemonSet in the namespace yet',
    fix: 'create it, or name another one',
  },
  PolicyAbsent: {
    of: 'Rollout',
    path: 'metadata.annotations[tranche.dev/release-policy]',
    says: 'there is no such ReleasePolicy in the namespace yet, and without it no release goes on',
    fix: 'create it, or name another one',
  },
  SizeAboveFleet: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the DaemonSet runs on fewer nodes, so the step takes all of them',
    fix: 'set it to a percentage such as "50%", or to a smaller number',
  },
  LastStepBelowAll: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the last step is below 100%: after its pause the remaining nodes follow as one more batch',
    fix: 'add a step of "100%" to say so',
  },
  ExtraWorkload: noEffect('Rollout', `${canary}.enableExtraWorkloadForCanary`),
  CanaryService: noEffect('Rollout', `${canary}.disableGenerateCanaryService`),
  BatchOtherWorkload: {
    of: 'BatchRelease',
    path: 'spec.workloadRef',
    says: 'Tranche acts on DaemonSets of apps/v1 only and leaves this BatchRelease alone',
    fix: 'leave it to the controller of that kind',
  },
  BatchPartitionAbsent: {
    of: 'BatchRelease',
    path: `${plan}.batchPartition`,
    says: 'without it every batch is allowed, and the release ends with all nodes updated',
    fix: 'set it to 0 to begin with the first batch only',
  },
  BatchExtraWorkload: noEffect('BatchRelease', `${plan}.enableExtraWorkloadForCanary`),
  HeaderInClear: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'everybody who may read the policy can read what this header carries',
    fix: 'put it into a Secret and name that by valueFrom',
  },
  PerBatchUnused: {
    of: 'ReleasePolicy',
    path: 'spec.failure.maxFailedNodesPerBatch',
    says: 'it is above maxFailedNodes, which stops the release first',
    fix: 'set it below maxFailedNodes, or remove it',
  },
  AnalysisBeyondSteps: {
    of: 'ReleasePolicy',
    path: 'spec.analysis[i].steps[i]',
    says: 'no Rollout that names this policy here has so many steps, so it never runs after this one',
    fix: 'set it to the number of a step, or remove it',
  },
  SecretUnusable: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'policies use a Secret of their namespace only where it exists, has the key, and carries the label tranche.dev/policy-secret=true',
    fix: 'create it, add the key, or give it the label with kubectl label',
  },
  HostNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'hosts that the controller was not started with are neither asked nor told',
    fix: 'name another host, or allow it where the controller is started, with --allow-host',
  },
  NativeMoment: {
    of: 'DaemonSet',
    path: 'spec.updateStrategy.type',
    says: 'where no admission of Tranche runs, applying RollingUpdate with a new template lets the native controller take its first pods before Tranche stops it',
    fix: 'set it to OnDelete, which drifts nowhere',
  },
  HistoryGone: {
    of: 'DaemonSet',
    path: 'spec.revisionHistoryLimit',
    says: 'Kubernetes prunes a revision as soon as no pod runs it, so nothing is left to go back to',
    fix: 'set it to 1 or more; 10 is the default',
  },
} as const satisfies Record<string, Rule>

function noEffect(of: 'Rollout' | 'BatchRelease', path: string) {
  return { of, path, says: 'it has no effect on a DaemonSet', fix: 'remove it' } as const
}
