import type { KubeObject } from '@tranche/kube-types'
import { z } from 'zod'
import { atomicList, type Frozen, int32, int64, intOrString, known, objectFields, textMap, time } from './fields.ts'
import { conditionStatuses, failureActions, nodeOrders, notReadyActions, notifyEvents, reapplyActions } from './values.ts'

/** A length of time as people write it: `30s`, `5m`, `1h30m`. */
const duration = (): z.ZodString => z.string()

const selectorRequirementSchema = z.object({
  key: z.string().meta({ description: 'Label.' }),
  operator: known(['In', 'NotIn', 'Exists', 'DoesNotExist']).meta({ description: 'How the label is compared.' }),
  values: atomicList(z.string()).optional().meta({ description: 'Values for In and NotIn.' }),
})

/** Which nodes are meant, by their labels; everything in it must hold. */
export const nodeSelectorSchema = z.object({
  matchLabels: textMap().optional().meta({ description: 'Labels with their values.' }),
  matchExpressions: atomicList(selectorRequirementSchema).optional().meta({ description: 'Further requirements.' }),
})
/** @see nodeSelectorSchema */
export type NodeSelector = Frozen<z.infer<typeof nodeSelectorSchema>>

const nodeOrderSchema = z.object({
  selector: nodeSelectorSchema.optional().meta({ description: 'The nodes that match come first.' }),
  by: known(nodeOrders).optional().meta({ description: 'Oldest or Newest by the age of the old pod, or Name of the node.' }),
})

const spreadSchema = z.object({
  topologyKey: z.string().meta({ description: 'Label of nodes, such as topology.kubernetes.io/zone.' }),
  maxUnavailable: int32().meta({ description: 'At most so many nodes of one value may be down at a time; from 1.' }),
})

const notReadySchema = z.object({
  action: known(notReadyActions)
    .optional()
    .meta({ description: 'What a node means that is NotReady when its turn comes: Skip (done last), Wait, or Fail. Default Skip.' }),
  exempt: intOrString()
    .optional()
    .meta({ description: 'So many NotReady nodes, or percent of the desired ones, do not count as unavailable. Default 0.' }),
})

/** Which nodes a batch may take, in which order, and how many of a kind at a time. */
export const nodeRulesSchema = z.object({
  order: atomicList(nodeOrderSchema)
    .optional()
    .meta({ description: 'In which order nodes are taken; the first key that tells two apart decides.' }),
  exclude: atomicList(nodeSelectorSchema).optional().meta({ description: 'Nodes that match one of these are never taken.' }),
  spread: atomicList(spreadSchema).optional().meta({ description: 'How many nodes of one zone, rack … may be down at a time.' }),
  notReady: notReadySchema.optional().meta({ description: 'What a node means that is NotReady when its turn comes.' }),
})
/** @see nodeRulesSchema */
export type NodeRules = Frozen<z.infer<typeof nodeRulesSchema>>

/** When the new version is taken to be bad, and what is done then. */
export const failureRulesSchema = z.object({
  action: known(failureActions).optional().meta({ description: 'Pause, Rollback or Continue. Default Pause.' }),
  maxFailedNodes: intOrString().optional().meta({
    description: 'Failed nodes, or percent of the desired ones, that are tolerated. Default: failureThreshold of the Rollout, else 0.',
  }),
  maxFailedNodesPerBatch: intOrString()
    .optional()
    .meta({ description: 'The same of the nodes that one batch brought, in percent of those. Default: no limit of its own.' }),
  progressDeadlineSeconds: int32().optional().meta({
    description: 'Seconds in which an updated node must become available, pauses not counted. Default 600.',
  }),
  schedulingDeadlineSeconds: int32().optional().meta({
    description: 'Seconds for which a new pod may be unschedulable, or missing because it cannot be created. Default 60.',
  }),
  maxRestarts: int32().optional().meta({ description: 'Restarts of containers on a node since its update that are tolerated. Default 2.' }),
  ignoreReasons: atomicList(z.string())
    .optional()
    .meta({ description: 'Waiting reasons, such as ErrImagePull, that fail a node only by the deadline. Default: none.' }),
  onReapply: known(reapplyActions).optional().meta({
    description:
      'What happens when the template that failed is applied again: Hold, Deny (refused by admission policies, else as Hold), or Revert (the stable one is put back). Default Hold.',
  }),
  autoResume: duration().optional().meta({
    description: 'A paused release goes on by itself when no more nodes than tolerated have failed for so long. Default: never.',
  }),
})
/** @see failureRulesSchema */
export type FailureRules = Frozen<z.infer<typeof failureRulesSchema>>

const secretKeySchema = z.object({
  name: z.string().meta({ description: 'Secret in the namespace of the policy.' }),
  key: z.string().meta({ description: 'Key in it.' }),
})
/** Where a secret stands; its value is never in a status or a log. */
export type SecretKey = Frozen<z.infer<typeof secretKeySchema>>

const headerSchema = z.object({
  name: z.string().meta({ description: 'Header.' }),
  value: z.string().optional().meta({ description: 'Its value.' }),
  valueFrom: secretKeySchema.optional().meta({ description: 'Where its value stands.' }),
})

const prometheusSchema = z.object({
  address: z.string().meta({ description: 'URL of the server, without /api/v1.' }),
  query: z.string().meta({ description: 'PromQL; {{canaryRevision}} and the other arguments are put in.' }),
  range: duration().optional().meta({ description: 'Asks for a range that ends now instead of an instant.' }),
  step: duration().optional().meta({ description: 'Distance of the points of a range. Default: a sixtieth of it.' }),
  headers: atomicList(headerSchema).optional().meta({ description: 'Headers of the request, such as Authorization.' }),
})

const httpSchema = z.object({
  url: z.string().meta({ description: 'What is asked; arguments are put in.' }),
  method: known(['GET', 'POST', 'PUT']).optional().meta({ description: 'Default GET.' }),
  headers: atomicList(headerSchema).optional().meta({ description: 'Headers of the request.' }),
  body: z.string().optional().meta({ description: 'Body of the request; arguments are put in.' }),
})

const analysisSchema = z.object({
  name: z.string().meta({ description: 'Name of the analysis; each once in a policy.' }),
  background: z
    .boolean()
    .optional()
    .meta({ description: 'Runs from the first batch to the end, instead of once after each step. Default false.' }),
  steps: atomicList(int32()).optional().meta({ description: 'Steps, from 1, after which it runs. Default: all.' }),
  prometheus: prometheusSchema.optional().meta({ description: 'Asks a Prometheus server; result is the list of its samples.' }),
  http: httpSchema.optional().meta({ description: 'Asks any server; result is its JSON.' }),
  successCondition: z.string().optional().meta({ description: 'CEL over result, status and args: true is a success.' }),
  failureCondition: z.string().optional().meta({ description: 'CEL over result, status and args: true is a failure.' }),
  args: atomicList(z.object({ name: z.string().meta({ description: 'Name.' }), value: z.string().meta({ description: 'Value.' }) }))
    .optional()
    .meta({ description: 'Further arguments for query, url, body and conditions.' }),
  initialDelay: duration().optional().meta({ description: 'Before the first measurement. Default 0s.' }),
  interval: duration().optional().meta({ description: 'Between two measurements. Default 30s.' }),
  timeout: duration().optional().meta({ description: 'Of one measurement. Default 10s.' }),
  count: int32().optional().meta({ description: 'Measurements; in the background without it: until the release ends. Default 1.' }),
  failureLimit: int32().optional().meta({ description: 'Failures that are tolerated. Default 0.' }),
  inconclusiveLimit: int32().optional().meta({ description: 'Measurements with neither outcome that are tolerated. Default 0.' }),
  consecutiveErrorLimit: int32()
    .optional()
    .meta({ description: 'Errors in a row (no answer, not readable) that are tolerated. Default 4.' }),
  dryRun: z.boolean().optional().meta({ description: 'Measured and shown, and never decides. Default false.' }),
})
/** One question to a metric system, and what its answers mean. */
export type Analysis = Frozen<z.infer<typeof analysisSchema>>

const receiverSchema = z.object({
  name: z.string().meta({ description: 'Name of the receiver; each once in a policy.' }),
  slack: z
    .object({ url: secretKeySchema.meta({ description: 'Where the URL of the incoming webhook stands.' }) })
    .optional()
    .meta({ description: 'A channel in Slack.' }),
  webhook: z
    .object({
      url: z.string().meta({ description: 'Is sent a POST with JSON.' }),
      hmac: secretKeySchema.optional().meta({ description: 'Key with which the body is signed (HMAC-SHA-256).' }),
      headers: atomicList(headerSchema).optional().meta({ description: 'Headers of the request.' }),
    })
    .optional()
    .meta({ description: 'Any other program.' }),
  events: atomicList(known(notifyEvents)).optional().meta({ description: 'What is told. Default: everything.' }),
  template: z
    .string()
    .optional()
    .meta({ description: 'The text; {{message}} and other arguments are put in. Default: one for each event.' }),
  remindAfter: duration()
    .optional()
    .meta({ description: 'Tells again when a person is waited for so long, and then again. Default: never.' }),
})
/** Who is told what. */
export type Receiver = Frozen<z.infer<typeof receiverSchema>>

const releasePolicySpecSchema = z.object({
  nodes: nodeRulesSchema.optional().meta({ description: 'Which nodes are taken, and in which order.' }),
  maxUnavailable: intOrString().optional().meta({ description: "In the place of the DaemonSet's own; from 1, percent round up." }),
  failure: failureRulesSchema.optional().meta({ description: 'When the new version is taken to be bad, and what is done then.' }),
  soak: z
    .object({
      step: duration().optional().meta({ description: 'For so long a batch must stay ready before its step is done. Default 0s.' }),
      final: duration().optional().meta({ description: 'The same after the last batch, before the release is over. Default 10s.' }),
    })
    .optional()
    .meta({ description: 'For how long what was updated must stay well.' }),
  analysis: z.array(analysisSchema).max(20).optional().meta({ description: 'Questions to metric systems.' }),
  notify: z.array(receiverSchema).max(20).optional().meta({ description: 'Who is told what.' }),
})
/** Under which conditions a release may go on. */
export type ReleasePolicySpec = Frozen<z.infer<typeof releasePolicySpecSchema>>

const policyConditionSchema = z.object({
  type: known(['Valid', 'Usable']).meta({
    description: 'Valid: every rule is kept. Usable: every Secret that it names can be read, and every host may be asked.',
  }),
  status: known(conditionStatuses).meta({ description: 'Whether it holds.' }),
  observedGeneration: int64().optional().meta({ description: 'Generation that this is about.' }),
  lastTransitionTime: time().optional().meta({ description: 'When its status last changed.' }),
  reason: z.string().meta({ description: 'Why, in one word.' }),
  message: z.string().meta({ description: 'Every problem with path, value and fix.' }),
})

const policyStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation that this status is about.' }),
  conditions: z.array(policyConditionSchema).optional().meta({ description: 'What holds, and since when.' }),
  failureAction: known(failureActions).optional().meta({ description: 'What is done when a version is bad, with the default put in.' }),
  rollouts: atomicList(z.string()).optional().meta({ description: 'Rollouts that use it, at most as many as a status lists.' }),
  rolloutCount: int32().optional().meta({ description: 'How many Rollouts use it.' }),
  receivers: atomicList(
    z.object({
      name: z.string().meta({ description: 'Name of the receiver.' }),
      failingSince: time().optional().meta({ description: 'Since when it takes nothing.' }),
      message: z.string().optional().meta({ description: 'What it answered last.' }),
    }),
  )
    .optional()
    .meta({ description: 'Receivers that could not be told something.' }),
})
/** What is seen of a ReleasePolicy. */
export type ReleasePolicyStatus = Frozen<z.infer<typeof policyStatusSchema>>

/** A ReleasePolicy: conditions that many Rollouts share. */
export const releasePolicySchema = z.object({
  ...objectFields,
  spec: releasePolicySpecSchema.meta({ description: 'Under which conditions a release may go on.' }),
  status: policyStatusSchema.meta({ description: 'Whether it is valid, and who uses it.' }).optional(),
})

/** @see releasePolicySchema */
export interface ReleasePolicy extends KubeObject {
  readonly spec: ReleasePolicySpec
  readonly status?: ReleasePolicyStatus | undefined
}

/** What the Rollout tells a release of its policy; the BatchRelease and the executors read it there alone. */
export const policyFields = {
  nodes: nodeRulesSchema
    .extend({
      steps: atomicList(nodeSelectorSchema)
        .optional()
        .meta({ description: 'Nodes that each batch may take beside those of the batches before it; an empty selector is every node.' }),
    })
    .optional()
    .meta({ description: 'Which nodes a batch may take, and in which order.' }),
  maxUnavailable: intOrString().optional().meta({ description: "In the place of the DaemonSet's own." }),
  failure: failureRulesSchema.optional().meta({ description: 'When the new version is taken to be bad, and what is done then.' }),
  analysis: z.array(analysisSchema).optional().meta({ description: 'Questions to metric systems.' }),
}
/** @see policyFields */
export type ReleaseNodeRules = NodeRules & { readonly steps?: readonly NodeSelector[] | undefined }
