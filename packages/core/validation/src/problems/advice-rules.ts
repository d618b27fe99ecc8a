import { installationRules } from './installation-rules.ts'
import type { Rule } from './rule.ts'

const canary = 'spec.strategy.canary'
const plan = 'spec.releasePlan'

/** Every rule whose breach is allowed but may surprise: a warning at admission and in `lint` that fails nothing. */
export const adviceRules = {
  MoreAdvice: {
    of: 'any',
    path: 'spec',
    says: 'there is more advice than one check lists',
    fix: 'follow the listed advice, and check again',
  },
  KindNearMiss: {
    of: 'any',
    path: 'kind',
    says: 'no such kind exists, but its name is close to one that Tranche checks',
    fix: 'set it to Rollout, BatchRelease, ReleasePolicy or DaemonSet',
  },
  ApiVersionNearMiss: {
    of: 'any',
    path: 'apiVersion',
    says: 'it is close to the apiVersion of a kind that Tranche checks, but an API server treats it as another one',
    fix: 'set it to the apiVersion of the kind, such as rollouts.kruise.io/v1beta1',
  },
  OtherWorkload: {
    of: 'Rollout',
    path: 'spec.workloadRef',
    says: 'Tranche releases only DaemonSets of apps/v1 and ignores this Rollout',
    fix: 'leave it to the controller of that kind',
  },
  WorkloadAbsent: {
    of: 'Rollout',
    path: 'spec.workloadRef.name',
    says: 'no DaemonSet of this name exists in the namespace yet',
    fix: 'create it, or name another DaemonSet',
  },
  PolicyAbsent: {
    of: 'Rollout',
    path: 'metadata.annotations[tranche.dev/release-policy]',
    says: 'no ReleasePolicy of this name exists in the namespace yet, and releases wait until it exists',
    fix: 'create it, or name another ReleasePolicy',
  },
  SizeAboveFleet: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the DaemonSet runs on fewer nodes, so the step updates all of them',
    fix: 'set it to a percentage such as "50%", or to a smaller number',
  },
  LastStepBelowAll: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the last step is below 100%, so the remaining nodes follow in one more batch after its pause',
    fix: 'add a step of "100%" to make that explicit',
  },
  ExtraWorkload: noEffect('Rollout', `${canary}.enableExtraWorkloadForCanary`),
  CanaryService: noEffect('Rollout', `${canary}.disableGenerateCanaryService`),
  BatchOtherWorkload: {
    of: 'BatchRelease',
    path: 'spec.workloadRef',
    says: 'Tranche releases only DaemonSets of apps/v1 and ignores this BatchRelease',
    fix: 'leave it to the controller of that kind',
  },
  BatchPartitionAbsent: {
    of: 'BatchRelease',
    path: `${plan}.batchPartition`,
    says: 'without it every batch may run, and the release updates all nodes',
    fix: 'set it to 0 to run only the first batch for now',
  },
  BatchExtraWorkload: noEffect('BatchRelease', `${plan}.enableExtraWorkloadForCanary`),
  HeaderInClear: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'every user who may read the policy can read the value of this header',
    fix: 'store the value in a Secret and reference it by valueFrom',
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
    says: 'no Rollout here that uses this policy has this step, so the analysis never runs after it',
    fix: 'set it to the number of an existing step, or remove it',
  },
  SecretUnusable: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'a policy can use only a Secret of its namespace that has the key and the label tranche.dev/policy-secret=true',
    fix: 'create the Secret, add the key, or add the label with kubectl label',
  },
  HostNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec…',
    says: 'the controller sends requests only to hosts that --allow-host names',
    fix: 'use another host, or start the controller with --allow-host for this one',
  },
  ...installationRules,
  NativeMoment: {
    of: 'DaemonSet',
    path: 'spec.updateStrategy.type',
    says: 'without admission by Tranche, a new template with RollingUpdate lets the native controller replace some pods before Tranche stops it',
    fix: 'set it to OnDelete, which works in every mode and never drifts',
  },
  HistoryGone: {
    of: 'DaemonSet',
    path: 'spec.revisionHistoryLimit',
    says: 'Kubernetes prunes a revision as soon as no pod runs it, so no revision is left to roll back to',
    fix: 'set it to 1 or more; 10 is the default',
  },
  ConfigUnversioned: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'a change of this object reaches pods of every revision, on every node and outside the batches of a release',
    fix: 'name it by the hash of its content, as kustomize does, or make it immutable under a new name',
  },
  ConfigChecksumOnly: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'the checksum annotation of the template makes a change of this object a release, but old pods take the new content as well',
    fix: 'name it by the hash of its content, as kustomize does, so that old pods keep the old content',
  },
  PinSecretUnknown: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'config: Pin of the policy copies this Secret only where the installation allows it; elsewhere, a change of it reaches pods of every revision',
    fix: 'list the namespace in rbac.pinSecretNamespaces of the chart, or name it by the hash of its content',
  },
  PinNotForDriver: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'config: Pin of the policy copies no Secret that a CSI driver gets, so a change of it reaches pods of every revision',
    fix: 'name it by the hash of its content, or make it immutable under a new name',
  },
  PinAfterCreation: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'this optional object is not among the documents: config: Pin of the policy pins it only once it exists, and its creation is a release',
    fix: 'create it before the release, or name it by the hash of its content',
  },
  PinOutOfReach: {
    of: 'DaemonSet',
    path: 'spec.template.spec…',
    says: 'config: Pin of the policy can name no copy at this place of its list, so the release holds',
    fix: 'move it to the front of its list, or name the object by the hash of its content',
  },
} as const satisfies Record<string, Rule>

function noEffect(of: 'Rollout' | 'BatchRelease', path: string) {
  return { of, path, says: 'it has no effect on a DaemonSet', fix: 'remove it' } as const
}
