import { type ProblemEntry, sizeFix, thresholdFix } from './rule.ts'

/** Rules about ReleasePolicies. */
export const policyRules = {
  PolicyField: rule('spec…', 'fields must exist in the schema and have the type that it states', 'see kubectl explain releasepolicy'),
  PolicyVersion: rule('apiVersion', 'ReleasePolicies must use tranche.dev/v1alpha1', 'set it to tranche.dev/v1alpha1'),
  PolicyMaxUnavailable: rule('spec.maxUnavailable', 'it must allow at least one unavailable node at a time', sizeFix),
  PolicyThreshold: rule('spec…', 'it must be a number of nodes from 0, or a percentage of the nodes', thresholdFix),
  PolicyNumber: rule('spec…', 'it must be a whole number in its range', 'set it to a whole number in its range'),
  PolicyDuration: rule(
    'spec…',
    'a duration must have a unit (ms, s, m or h) and be in its range',
    'set it to a duration such as 30s, 5m or 1h30m',
  ),
  PolicyText: rule('spec…', 'a text must not be empty or too long', 'write a text, or remove the field'),
  PolicySize: rule(
    'spec…',
    'lists, texts, selectors, queries and conditions must be small enough to check in a few milliseconds',
    'shorten the list or the text',
  ),
  PolicySelector: rule('spec…', 'label keys and values must be valid in Kubernetes', 'correct the label, or remove the requirement'),
  PolicyUrl: rule(
    'spec…',
    'a URL must begin with http:// or https:// and name a host',
    'set it to a URL such as https://prometheus.monitoring:9090',
  ),
  PolicyHeader: rule(
    'spec…',
    'a header must have a name and either value or valueFrom, and must not be one that the HTTP client sets',
    'set name, and either value or valueFrom',
  ),
  PolicySecret: rule(
    'spec…',
    'a reference to a Secret must have a valid name and key',
    'set name and key to those of a Secret in the namespace of the policy',
  ),
  PolicyTemplate: rule('spec…', '{{ and }} must enclose the name of an argument', 'name one of the arguments, or remove the braces'),
  NodeOrderKey: rule('spec.nodes.order[i]…', 'an entry must have selector, by, or both', 'add selector or by, or remove the entry'),
  NodeOrderIdle: rule(
    'spec.nodes.order[i]…',
    'an entry after Name, or an age after Oldest or Newest, has no effect: the earlier entry already decides',
    'remove it, or move it to the front',
  ),
  ExcludeAll: rule(
    'spec.nodes.exclude[i]',
    'an empty selector matches every node, so no node could be updated',
    'add matchLabels or matchExpressions, or remove the entry',
  ),
  SpreadKey: rule(
    'spec.nodes.spread[i].topologyKey',
    'it must be a node label, and each label may occur once',
    'set it to a label such as topology.kubernetes.io/zone',
  ),
  FailureReason: rule(
    'spec.failure.ignoreReasons[i]',
    'it must be a waiting reason of containers, as kubectl get pods shows it',
    'set it to a reason such as ErrImagePull, or remove it',
  ),
  AutoResume: rule(
    'spec.failure.autoResume',
    'only a release with spec.failure.action Pause can resume by itself',
    'remove it, or set spec.failure.action to Pause',
  ),
  DrainIdle: rule(
    'spec.drain.consumers',
    'without consumers and without cordon there is nothing to do before a pod is deleted',
    'name consumers, set cordon to true, or remove drain',
  ),
  DrainConsumer: rule(
    'spec.drain.consumers[i]',
    'a consumer must have exactly one of selector, csiDriver and extendedResource',
    'keep one of them, or write an entry for each',
  ),
  DrainAll: rule(
    'spec.drain.consumers[i].selector',
    'an empty selector matches every pod, so every pod of a node would be evicted',
    'add matchLabels or matchExpressions, or remove the entry',
  ),
  DrainDriver: rule(
    'spec.drain.consumers[i].csiDriver',
    'it must be the name of a CSI driver: up to 63 letters, digits, dots and hyphens',
    'set it to a name that kubectl get csidrivers shows, such as ebs.csi.aws.com',
  ),
  DrainResource: rule(
    'spec.drain.consumers[i].extendedResource',
    'it must be an extended resource: a name with a domain other than kubernetes.io',
    'set it to a resource that kubectl describe node shows, such as nvidia.com/gpu',
  ),
  AnalysisName: rule(
    'spec.analysis[i].name',
    'it must have up to 63 lowercase letters, digits and hyphens, and be unique',
    'set it to a name such as error-rate',
  ),
  AnalysisSource: rule(
    'spec.analysis[i]…',
    'an analysis must query either prometheus or http',
    'keep one of the two, or write two analyses',
  ),
  AnalysisQuery: rule('spec.analysis[i].prometheus.query', 'it must be valid PromQL', 'correct the query'),
  AnalysisPoints: rule(
    'spec.analysis[i].prometheus.step',
    'a range must have 1 to 11,000 points at this interval',
    'set it to a fraction of the range, or remove it',
  ),
  AnalysisBody: rule('spec.analysis[i].http.body', 'a GET has no body', 'remove it, or set method to POST'),
  AnalysisCondition: rule(
    'spec.analysis[i]…',
    'a condition must be a CEL expression over result, status and args that is true or false',
    'write an expression such as size(result) > 0 && result[0] < 0.05',
  ),
  AnalysisArgument: rule(
    'spec.analysis[i].args[i].name',
    'it must have letters, digits and underscores, begin with a letter, and be unique',
    'set it to a name such as service',
  ),
  AnalysisSteps: rule(
    'spec.analysis[i].steps…',
    'it must list step numbers, from 1, each once; a background analysis runs in all steps',
    'list the numbers of steps, or remove it',
  ),
  AnalysisLimit: rule(
    'spec.analysis[i].failureLimit',
    'the limit is not below the number of measurements, so the analysis can never fail',
    'set it to less than count, or write dryRun: true',
  ),
  GroupName: rule(
    'spec.downtime.group',
    'it must have up to 63 lowercase letters, digits and hyphens, and begin and end with a letter or digit',
    'set it to a name such as node-agents, or remove it',
  ),
  ReceiverName: rule(
    'spec.notify[i].name',
    'it must have up to 63 lowercase letters, digits and hyphens, and be unique',
    'set it to a name such as on-call',
  ),
  ReceiverTarget: rule('spec.notify[i]…', 'a receiver must be either slack or webhook', 'keep one of the two, or write two receivers'),
  ReceiverEvents: rule(
    'spec.notify[i].events…',
    'it must list events, each once',
    'list events such as ReleaseFailed, or remove it to receive every event',
  ),
  ReceiverReminder: rule(
    'spec.notify[i]…',
    'a receiver with remindAfter must receive Reminder events, and a receiver that lists Reminder must have remindAfter',
    'set both, or neither',
  ),
} as const satisfies Record<string, ProblemEntry>

function rule<const Path extends string, const Says extends string, const Fix extends string>(path: Path, says: Says, fix: Fix) {
  return { of: 'ReleasePolicy', path, says, fix, reason: 'PolicyInvalid' } as const
}
