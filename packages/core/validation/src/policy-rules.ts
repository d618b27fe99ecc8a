import { type ProblemEntry, sizeFix, thresholdFix } from './rule.ts'

/** Rules about ReleasePolicies. */
export const policyRules = {
  PolicyField: rule(
    'spec…',
    'a field has the type that its schema gives it, and no other fields exist',
    'see kubectl explain releasepolicy',
  ),
  PolicyVersion: rule('apiVersion', 'ReleasePolicies are served as tranche.dev/v1alpha1 only', 'set it to tranche.dev/v1alpha1'),
  PolicyMaxUnavailable: rule('spec.maxUnavailable', 'it says how many nodes may be without their pod at a time, one at least', sizeFix),
  PolicyThreshold: rule('spec…', 'it is a number of nodes from 0, or a percentage of nodes', thresholdFix),
  PolicyNumber: rule('spec…', 'it is a whole number in its range', 'set it to a whole number in its range'),
  PolicyDuration: rule(
    'spec…',
    'a length of time is a number with its unit (ms, s, m or h), and lies in its range',
    'set it to a length such as 30s, 5m or 1h30m',
  ),
  PolicyText: rule('spec…', 'a text is not empty, and not longer than it may be', 'write it, or remove the field'),
  PolicySize: rule(
    'spec…',
    'lists, queries and conditions are small enough to be checked in a few milliseconds',
    'shorten the list or the text',
  ),
  PolicySelector: rule(
    'spec…',
    'it chooses nodes by their labels, as Kubernetes writes labels and their values',
    'mend the label, or remove the requirement',
  ),
  PolicyUrl: rule(
    'spec…',
    'a URL begins with http:// or https:// and names a host',
    'set it to a URL such as https://prometheus.monitoring:9090',
  ),
  PolicyHeader: rule(
    'spec…',
    'a header has a name and either a value or valueFrom, and none that the connection itself needs',
    'set name, and either value or valueFrom',
  ),
  PolicySecret: rule(
    'spec…',
    'a secret is named by its name and a key in it',
    'set name and key to those of a Secret in the namespace of the policy',
  ),
  PolicyTemplate: rule('spec…', 'between {{ and }} stands the name of an argument', 'name one of the arguments, or remove the braces'),
  NodeOrderKey: rule('spec.nodes.order[i]…', 'an entry has a selector, by, or both', 'add selector or by, or remove the entry'),
  NodeOrderIdle: rule(
    'spec.nodes.order[i]…',
    'behind an entry by Name nothing is left to decide, and behind Oldest or Newest no other age',
    'remove it, or move it to the front',
  ),
  ExcludeAll: rule(
    'spec.nodes.exclude[i]',
    'an empty selector matches every node, so none could be updated',
    'add matchLabels or matchExpressions, or remove the entry',
  ),
  SpreadKey: rule(
    'spec.nodes.spread[i].topologyKey',
    'it is a label of nodes, and each label stands once',
    'set it to a label such as topology.kubernetes.io/zone',
  ),
  FailureReason: rule(
    'spec.failure.ignoreReasons[i]',
    'it is a waiting reason of containers, as kubectl get pods shows it',
    'set it to a reason such as ErrImagePull, or remove it',
  ),
  AutoResume: rule(
    'spec.failure.autoResume',
    'only a release that pauses when the version is bad can go on by itself',
    'remove it, or set spec.failure.action to Pause',
  ),
  AnalysisName: rule(
    'spec.analysis[i].name',
    'it has up to 63 small letters, digits and hyphens, and each name stands once',
    'set it to a name such as error-rate',
  ),
  AnalysisSource: rule('spec.analysis[i]…', 'an analysis asks either prometheus or http', 'keep one of the two, or write two analyses'),
  AnalysisQuery: rule('spec.analysis[i].prometheus.query', 'it is PromQL, as Prometheus itself reads it', 'mend the query'),
  AnalysisPoints: rule(
    'spec.analysis[i].prometheus.step',
    'a range has points at this distance, from 1 to 11,000 of them',
    'set it to a part of the range, or remove it',
  ),
  AnalysisBody: rule('spec.analysis[i].http.body', 'a GET has no body', 'remove it, or set method to POST'),
  AnalysisCondition: rule(
    'spec.analysis[i]…',
    'a condition is CEL over result, status and args, and is true or false',
    'mend the expression, such as size(result) > 0 && result[0] < 0.05',
  ),
  AnalysisArgument: rule(
    'spec.analysis[i].args[i].name',
    'it has letters, digits and underscores, begins with a letter, and no other argument has it',
    'set it to a name such as service',
  ),
  AnalysisSteps: rule(
    'spec.analysis[i].steps…',
    'it lists steps, from 1, each once; an analysis in the background runs in all of them',
    'list the numbers of steps, or remove it',
  ),
  AnalysisLimit: rule(
    'spec.analysis[i].failureLimit',
    'as many failures as there are measurements are tolerated, so it can never fail',
    'set it to less than count, or write dryRun: true',
  ),
  ReceiverName: rule(
    'spec.notify[i].name',
    'it has up to 63 small letters, digits and hyphens, and each name stands once',
    'set it to a name such as on-call',
  ),
  ReceiverTarget: rule('spec.notify[i]…', 'a receiver is either slack or a webhook', 'keep one of the two, or write two receivers'),
  ReceiverEvents: rule(
    'spec.notify[i].events…',
    'it lists events, each once',
    'list events such as ReleaseFailed, or remove it to be told everything',
  ),
  ReceiverReminder: rule(
    'spec.notify[i]…',
    'a receiver is reminded where remindAfter says after how long, and its events have Reminder or are not listed',
    'set both, or neither',
  ),
} as const satisfies Record<string, ProblemEntry>

function rule<const Path extends string, const Says extends string, const Fix extends string>(path: Path, says: Says, fix: Fix) {
  return { of: 'ReleasePolicy', path, says, fix, reason: 'PolicyInvalid' } as const
}
