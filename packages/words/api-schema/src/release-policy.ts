import type { KubeObject } from '@tranche/kube-types'
import { z } from 'zod'
import { downtimeSchema } from './downtime-rules.ts'
import {
  atomicList,
  duration,
  type Frozen,
  int32,
  int64,
  intOrString,
  known,
  listUpTo,
  objectFields,
  textUpTo,
  time,
  word,
} from './fields.ts'
import { type NodeSelector, nodeSelectorSchema, podSelectorSchema } from './selector.ts'
import { headerSchema, secretKeySchema } from './secret-key.ts'
import { sizeLimits } from './size-limits.ts'
import {
  conditionStatuses,
  configRules,
  drainTimeoutActions,
  failureActions,
  nodeOrders,
  notReadyActions,
  notifyEvents,
  pullFailureActions,
  reapplyActions,
  roomRules,
  UNUSABLE_REASONS_MAX,
} from './values.ts'

const nodeOrderSchema = z.object({
  selector: nodeSelectorSchema.optional().meta({ description: 'Nodes that match this selector come first.' }),
  by: word(nodeOrders).optional().meta({ description: 'Sort key: Oldest or Newest (age of the old pod), or Name (of the node).' }),
})

const spreadSchema = z.object({
  topologyKey: textUpTo(sizeLimits.labelKey).meta({ description: 'Node label, such as topology.kubernetes.io/zone.' }),
  maxUnavailable: int32().meta({
    description: 'Maximum number of nodes with the same label value that may be unavailable at a time; from 1.',
  }),
})

/** What `nodes.notReady` of a policy means where it says nothing: `exempt` is rounded up, `after` is as long as a taint-based eviction waits. */
export const notReadyDefaults = { action: 'Skip', exempt: '10%', after: '5m' } as const

const notReadySchema = z.object({
  action: word(notReadyActions).optional().meta({
    description:
      'How to handle a node that is NotReady or in maintenance when it is due: Skip (update it last), Wait or Fail. Default Skip.',
  }),
  exempt: intOrString().optional().meta({
    description:
      'Number of dead nodes, or percentage of desired nodes, that do not count as unavailable. Dead are nodes on the old version, or on one that was stable before, that do not answer, are in maintenance, or are NotReady for long. If more are dead, all of them count. 0 counts every dead node: the strict rule. Default 10%.',
  }),
  after: duration()
    .optional()
    .meta({ description: 'Time after which a node whose kubelet reports it NotReady counts as dead. Default 5m.' }),
})

/** Which nodes a batch may update, in which order, and how many per zone or rack at a time. */
export const nodeRulesSchema = z.object({
  order: listUpTo(nodeOrderSchema, sizeLimits.orders)
    .optional()
    .meta({ description: 'Update order of the nodes. The first entry in which two nodes differ decides.' }),
  exclude: listUpTo(nodeSelectorSchema, sizeLimits.excluded)
    .optional()
    .meta({ description: 'Nodes that match any of these selectors are never updated.' }),
  spread: listUpTo(spreadSchema, sizeLimits.spreads)
    .optional()
    .meta({ description: 'Limits on unavailable nodes per zone, rack or other node label.' }),
  notReady: notReadySchema.optional().meta({ description: 'How to handle nodes that are NotReady when they are due.' }),
  room: word(roomRules).optional().meta({
    description:
      'Whether to check, before a pod is deleted, that its node has room for the new pod: Ignore or Check. With Check, a node without room keeps its pod and waits. Default Ignore.',
  }),
})
/** @see nodeRulesSchema */
export type NodeRules = Frozen<z.infer<typeof nodeRulesSchema>>

/** Values of `prePull` of a policy where it says nothing. */
export const prePullDefaults = { timeout: '10m', onFailure: 'Hold' } as const

/** How the new images are pulled to nodes before their pods are deleted. Its presence turns it on. */
export const prePullSchema = z.object({
  parallel: int32().optional().meta({
    description: 'Maximum number of nodes without a permit that pull at a time, from 1. Default: maxUnavailable.',
  }),
  timeout: duration().optional().meta({ description: 'Time within which a node must have pulled the images. Default 10m.' }),
  onFailure: word(pullFailureActions).optional().meta({
    description:
      'Action for a node that cannot pull the images: Hold (it keeps its pod and is tried again) or Continue (it is updated anyway). Default Hold.',
  }),
})
/** @see prePullSchema */
export type PrePullRules = Frozen<z.infer<typeof prePullSchema>>

/** What `drain` of a policy means where it says nothing. */
export const drainDefaults = { cordon: true, timeout: '10m', onTimeout: 'Hold' } as const

const drainConsumerSchema = z.object({
  selector: podSelectorSchema.optional().meta({ description: 'Pods of all namespaces that match this label selector.' }),
  csiDriver: textUpTo(sizeLimits.name).optional().meta({ description: 'Pods with a volume of this CSI driver, such as ebs.csi.aws.com.' }),
  extendedResource: textUpTo(sizeLimits.labelKey)
    .optional()
    .meta({ description: 'Pods that request this extended resource, such as nvidia.com/gpu.' }),
})
/** Pods that use the agent: by label, by the CSI driver of a volume, or by an extended resource. */
export type DrainConsumer = Frozen<z.infer<typeof drainConsumerSchema>>

/** Which pods must leave a node before the pod of the DaemonSet is deleted there. */
export const drainRulesSchema = z.object({
  cordon: z.boolean().optional().meta({
    description: 'Whether to mark the node unschedulable from before the evictions until its new pod is available. Default true.',
  }),
  consumers: listUpTo(drainConsumerSchema, sizeLimits.consumers).optional().meta({
    description: 'Pods that use the agent. They are evicted before its pod is deleted. Each entry has one of its fields.',
  }),
  timeout: duration().optional().meta({ description: 'Time within which the consumers must leave a node. Default 10m.' }),
  onTimeout: word(drainTimeoutActions).optional().meta({
    description:
      'Action if consumers do not leave in time: Hold (the node keeps its pod and is tried again later) or Continue (its pod is deleted). Default Hold.',
  }),
})
/** @see drainRulesSchema */
export type DrainRules = Frozen<z.infer<typeof drainRulesSchema>>

/** When the new version is considered bad, and what happens then. */
export const failureRulesSchema = z.object({
  action: word(failureActions).optional().meta({ description: 'Action on a failure: Pause, Rollback or Continue. Default Pause.' }),
  maxFailedNodes: intOrString().optional().meta({
    description: 'Tolerated failed nodes, as a number or a percentage of desired nodes. Default: failureThreshold of the Rollout, else 0.',
  }),
  maxFailedNodesPerBatch: intOrString().optional().meta({
    description: "Tolerated failed nodes of one batch, as a number or a percentage of the batch's nodes. Default: no separate limit.",
  }),
  progressDeadlineSeconds: int32().optional().meta({
    description: 'Seconds within which an updated node must become available, not counting pauses. Default 600.',
  }),
  schedulingDeadlineSeconds: int32().optional().meta({
    description: 'Seconds for which a new pod may be unschedulable or fail to be created. Default 60.',
  }),
  maxRestarts: int32().optional().meta({ description: 'Tolerated container restarts on a node since its update. Default 2.' }),
  ignoreReasons: listUpTo(textUpTo(sizeLimits.reason), sizeLimits.ignoredReasons)
    .optional()
    .meta({ description: 'Waiting reasons, such as ErrImagePull, that fail a node only after the deadline. Default: none.' }),
  onReapply: word(reapplyActions).optional().meta({
    description:
      'Action when a failed template is applied again: Hold, Deny (rejected at admission; without admission, Hold), or Revert (restore the stable template). Default Hold.',
  }),
  autoResume: duration().optional().meta({
    description:
      'Resumes a release stopped by a failure once the number of failed nodes has been within the limit for this long. Default: never.',
  }),
})
/** @see failureRulesSchema */
export type FailureRules = Frozen<z.infer<typeof failureRulesSchema>>

const prometheusSchema = z.object({
  address: textUpTo(sizeLimits.url).meta({ description: 'URL of the server, without /api/v1.' }),
  query: textUpTo(sizeLimits.expression).meta({ description: 'PromQL query. {{canaryRevision}} and other arguments are substituted.' }),
  range: duration().optional().meta({ description: 'Length of a range query that ends now. Default: an instant query.' }),
  step: duration().optional().meta({ description: 'Resolution of the range query. Default: 1/60 of the range.' }),
  headers: listUpTo(headerSchema, sizeLimits.headers).optional().meta({ description: 'Headers of the request, such as Authorization.' }),
})

const httpSchema = z.object({
  url: textUpTo(sizeLimits.url).meta({ description: 'URL of the request. Arguments are substituted.' }),
  method: word(['GET', 'POST', 'PUT']).optional().meta({ description: 'HTTP method: GET, POST or PUT. Default GET.' }),
  headers: listUpTo(headerSchema, sizeLimits.headers).optional().meta({ description: 'Headers of the request.' }),
  body: textUpTo(sizeLimits.body).optional().meta({ description: 'Body of the request. Arguments are substituted.' }),
})

const analysisSchema = z.object({
  name: textUpTo(sizeLimits.name).meta({ description: 'Name of the analysis; unique within the policy.' }),
  background: z.boolean().optional().meta({
    description: 'Whether the analysis runs from the first batch to the end of the release instead of after each step. Default false.',
  }),
  steps: listUpTo(int32(), sizeLimits.steps).optional().meta({ description: 'Steps, from 1, after which it runs. Default: all.' }),
  prometheus: prometheusSchema.optional().meta({ description: 'Queries a Prometheus server. The result is the list of samples.' }),
  http: httpSchema.optional().meta({ description: 'Sends an HTTP request. The result is the JSON of the response.' }),
  successCondition: textUpTo(sizeLimits.expression)
    .optional()
    .meta({ description: 'CEL expression over result, status and args. If true, the measurement succeeds.' }),
  failureCondition: textUpTo(sizeLimits.expression)
    .optional()
    .meta({ description: 'CEL expression over result, status and args. If true, the measurement fails.' }),
  args: listUpTo(
    z.object({
      name: textUpTo(sizeLimits.name).meta({ description: 'Name of the argument.' }),
      value: textUpTo(sizeLimits.expression).meta({ description: 'Value of the argument.' }),
    }),
    sizeLimits.arguments,
  )
    .optional()
    .meta({ description: 'Additional arguments for query, url, body and conditions.' }),
  initialDelay: duration().optional().meta({ description: 'Delay before the first measurement. Default 0s.' }),
  interval: duration().optional().meta({ description: 'Time between two measurements. Default 30s.' }),
  timeout: duration().optional().meta({ description: 'Timeout of one measurement. Default 10s.' }),
  count: int32().optional().meta({ description: 'Number of measurements. Default 1; in the background, until the release ends.' }),
  failureLimit: int32().optional().meta({ description: 'Number of tolerated failures. Default 0.' }),
  inconclusiveLimit: int32().optional().meta({ description: 'Number of tolerated measurements that neither succeed nor fail. Default 0.' }),
  consecutiveErrorLimit: int32()
    .optional()
    .meta({ description: 'Number of tolerated consecutive errors (no answer, or one that cannot be read). Default 4.' }),
  dryRun: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the analysis only measures and reports, without affecting the release. Default false.' }),
})
/** One query to a metric provider, with its success and failure conditions. */
export type Analysis = Frozen<z.infer<typeof analysisSchema>>

const receiverSchema = z.object({
  name: textUpTo(sizeLimits.name).meta({ description: 'Name of the receiver; unique within the policy.' }),
  slack: z
    .object({ url: secretKeySchema.meta({ description: 'Secret that holds the URL of the incoming webhook.' }) })
    .optional()
    .meta({ description: 'Slack incoming webhook.' }),
  webhook: z
    .object({
      url: textUpTo(sizeLimits.url).meta({ description: 'URL to which notifications are sent as a POST with JSON.' }),
      hmac: secretKeySchema.optional().meta({ description: 'Secret that holds the key for signing the body (HMAC-SHA-256).' }),
      headers: listUpTo(headerSchema, sizeLimits.headers).optional().meta({ description: 'Headers of the request.' }),
    })
    .optional()
    .meta({ description: 'Generic HTTP webhook.' }),
  events: listUpTo(word(notifyEvents), sizeLimits.events).optional().meta({ description: 'Events that are sent. Default: all.' }),
  template: textUpTo(sizeLimits.template)
    .optional()
    .meta({ description: 'Text of the notification. {{message}} and other arguments are substituted. Default: a text per event.' }),
  remindAfter: duration()
    .optional()
    .meta({ description: 'Interval of reminders while the release waits for a person. Default: no reminders.' }),
})
/** Receiver of notifications, and the events that it gets. */
export type Receiver = Frozen<z.infer<typeof receiverSchema>>

const releasePolicySpecSchema = z.object({
  nodes: nodeRulesSchema.optional().meta({ description: 'Which nodes are updated, and in which order.' }),
  maxUnavailable: intOrString()
    .optional()
    .meta({ description: 'Overrides maxUnavailable of the DaemonSet. A number from 1, or a percentage, rounded up.' }),
  failure: failureRulesSchema.optional().meta({ description: 'When the new version is considered bad, and what happens then.' }),
  drain: drainRulesSchema.optional().meta({ description: 'Which pods must leave a node before its pod is deleted. Default: none.' }),
  soak: z
    .object({
      step: duration().optional().meta({ description: 'How long a batch must stay ready before its step is done. Default 0s.' }),
      final: duration()
        .optional()
        .meta({ description: 'How long the last batch must stay ready before the release completes. Default 10s.' }),
    })
    .optional()
    .meta({ description: 'How long updated nodes must stay healthy.' }),
  analysis: z.array(analysisSchema).max(sizeLimits.analyses).optional().meta({ description: 'Metric analyses.' }),
  downtime: downtimeSchema.optional().meta({
    description:
      'DaemonSets and programs that take no node down beside the release, and how long the agent of a node may be unavailable in 24 hours.',
  }),
  prePull: prePullSchema.optional().meta({ description: 'Pulls the new images to nodes before their pods are deleted. Default: off.' }),
  config: word(configRules).optional().meta({
    description:
      'Pin: pods read immutable copies of the ConfigMaps that the template names, and of the Secrets where the installation allows it, so that a change of config is a release. Report: a condition names them. Default Report.',
  }),
  notify: z.array(receiverSchema).max(sizeLimits.receivers).optional().meta({ description: 'Receivers of notifications.' }),
})
/** Conditions under which a release may continue. */
export type ReleasePolicySpec = Frozen<z.infer<typeof releasePolicySpecSchema>>

const policyConditionSchema = z.object({
  type: known(['Valid', 'Usable']).meta({
    description:
      'Valid: the policy passes validation. Usable: every Secret that it names can be read, every host is allowed, and the installation allows what the policy asks for.',
  }),
  status: known(conditionStatuses).meta({ description: 'Status of the condition: True, False or Unknown.' }),
  observedGeneration: int64().optional().meta({ description: 'Generation of the policy that the condition describes.' }),
  lastTransitionTime: time().optional().meta({ description: 'Time of the last change of the status.' }),
  reason: z.string().meta({ description: 'Reason for the status, in one word.' }),
  message: z.string().meta({ description: 'Every problem with its path, value and fix.' }),
})

const policyStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation of the policy that this status describes.' }),
  conditions: z.array(policyConditionSchema).optional().meta({ description: 'Conditions of the policy.' }),
  unusable: atomicList(z.string())
    .max(UNUSABLE_REASONS_MAX)
    .optional()
    .meta({ description: 'Reasons for which the policy cannot be used in full, each once. The condition Usable explains them.' }),
  failureAction: known(failureActions).optional().meta({ description: 'Effective failure action, with the default filled in.' }),
  rollouts: atomicList(z.string()).optional().meta({ description: 'Rollouts that use the policy, at most 50.' }),
  rolloutCount: int32().optional().meta({ description: 'Number of Rollouts that use the policy.' }),
  receivers: atomicList(
    z.object({
      name: z.string().meta({ description: 'Name of the receiver.' }),
      failingSince: time().optional().meta({ description: 'Time of the first failed attempt since the last success.' }),
      message: z.string().optional().meta({ description: 'Last error of the receiver.' }),
    }),
  )
    .optional()
    .meta({ description: 'Receivers to which a notification could not be delivered.' }),
})
/** Observed state of a ReleasePolicy. */
export type ReleasePolicyStatus = Frozen<z.infer<typeof policyStatusSchema>>

/** A ReleasePolicy: release conditions that several Rollouts share. */
export const releasePolicySchema = z.object({
  ...objectFields,
  spec: releasePolicySpecSchema.meta({ description: 'Conditions under which a release may continue.' }),
  status: policyStatusSchema.meta({ description: 'Whether the policy is valid, and which Rollouts use it.' }).optional(),
})

/** @see releasePolicySchema */
export interface ReleasePolicy extends KubeObject {
  readonly spec: ReleasePolicySpec
  readonly status?: ReleasePolicyStatus | undefined
}

/** Policy settings that are copied into the BatchRelease. Executors read them only there. */
export const policyFields = {
  nodes: nodeRulesSchema
    .extend({
      steps: listUpTo(nodeSelectorSchema, sizeLimits.steps).optional().meta({
        description: 'Additional nodes that each batch may update, beside those of earlier batches. An empty selector matches every node.',
      }),
    })
    .optional()
    .meta({ description: 'Which nodes a batch may update, and in which order.' }),
  maxUnavailable: intOrString().optional().meta({ description: 'Overrides maxUnavailable of the DaemonSet.' }),
  drain: drainRulesSchema.optional().meta({ description: 'Which pods must leave a node before its pod is deleted.' }),
  failure: failureRulesSchema.optional().meta({ description: 'When the new version is considered bad, and what happens then.' }),
  analysis: z.array(analysisSchema).meta({ maxItems: sizeLimits.analyses }).optional().meta({ description: 'Metric analyses.' }),
  downtime: downtimeSchema.optional().meta({ description: 'DaemonSets and programs that take no node down beside the release.' }),
  prePull: prePullSchema.optional().meta({ description: 'Pulls the new images to nodes before their pods are deleted.' }),
}
/** @see policyFields */
export type ReleaseNodeRules = NodeRules & { readonly steps?: readonly NodeSelector[] | undefined }
