import type { DevStage } from './dev-stage.ts'
import { AGENTS, agentImage, agentObjects, waitFor } from './agent-objects.ts'

/**
 * Places of the cluster where a tenant can write text that the page shows. Names and labels are not among them: the API server allows only
 * letters, digits and a few signs there. The controller replaces what a tenant writes into a status.
 */
export const tenantPlaces = [
  'step size',
  'workload name',
  'policy name',
  'policy query',
  'image',
  'template annotation',
  'argument',
  'change cause',
  'action reason',
  'action user',
  'action address',
  'refused reason',
  'refused user',
  'field manager',
  'event message',
  'event reason',
  'pod reason',
  'pod message',
  'pod event message',
  'pod event reason',
  'pod event source',
] as const
/** @see tenantPlaces */
export type TenantPlace = (typeof tenantPlaces)[number]

/** Rollouts with the texts of {@link writeTenantTexts}: one in a release, and those whose spec is not valid. */
export const tenantRollouts = ['texts', 'texts-steps', 'texts-workload', 'texts-policy', 'texts-query'] as const

/** Node whose pod has events with texts. */
const TEXT_NODE = 'node-001'

/**
 * Writes a text into every place, with kubectl as a tenant would. The cluster must not have admission, which refuses some of them.
 *
 * @param textOf text of a place; the limits of Kubernetes apply
 */
export function writeTenantTexts(stage: DevStage, textOf: (place: TenantPlace) => string): void {
  const [texts, steps, workload, policy, query] = tenantRollouts
  stage.apply(
    ...agentObjects(texts, { annotations: { 'kubernetes.io/change-cause': textOf('change cause') } }),
    ...agentObjects(steps, { steps: [{ replicas: textOf('step size') }] }),
    ...agentObjects(policy, { rolloutAnnotations: { 'tranche.dev/release-policy': textOf('policy name') } }),
    rolloutOf(workload, textOf('workload name')),
    ...agentObjects(query, { rolloutAnnotations: { 'tranche.dev/release-policy': query } }),
    policyOf(query, textOf('policy query')),
  )
  waitFor(stage, `rollout/${texts}`, '{.status.phase}=Healthy')
  writeRelease(stage, texts, textOf)
  writeRecord(stage, texts, textOf)
  writeEvents(stage, texts, textOf)
  writePod(stage, texts, textOf)
}

/** A policy whose query is not valid, which the status of its Rollouts says. */
function policyOf(name: string, query: string): object {
  const prometheus = { address: 'http://prometheus.example:9090', query }
  const analysis = [{ name: 'errors', prometheus, successCondition: 'size(result) > 0' }]
  return { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { namespace: AGENTS, name }, spec: { analysis } }
}

function rolloutOf(name: string, workload: string): object {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { namespace: AGENTS, name },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: workload }, strategy: { canary: { steps: [{ replicas: 1 }] } } },
  }
}

/** A release with texts in its template; its first step waits for approval. */
function writeRelease(stage: DevStage, name: string, textOf: (place: TenantPlace) => string): void {
  const container = { name: 'agent', image: agentImage(name, textOf('image')), args: [textOf('argument')] }
  const template = { metadata: { annotations: { note: textOf('template annotation') } }, spec: { containers: [container] } }
  patch(stage, `daemonset/${name}`, { spec: { template } })
  waitFor(stage, `rollout/${name}`, '{.status.canaryStatus.currentStepState}=StepPaused')
}

/** Recorded actions, an action that is rejected, and a change by another program. */
function writeRecord(stage: DevStage, name: string, textOf: (place: TenantPlace) => string): void {
  const recorded = {
    id: 'recorded',
    type: 'pause',
    by: textOf('action user'),
    reason: textOf('action reason'),
    at: new Date().toISOString(),
    via: 'rest',
    from: textOf('action address'),
  }
  const rejected = { id: 'rejected', type: 'approve', expectedStep: 9, by: textOf('refused user'), reason: textOf('refused reason') }
  const annotations = { 'tranche.dev/recorded-actions': JSON.stringify([recorded]), 'tranche.dev/action': JSON.stringify(rejected) }
  patch(stage, `rollout/${name}`, { metadata: { annotations } })
  waitFor(stage, `rollout/${name}`, '{.status.lastAction.id}=rejected')
  patch(stage, `rollout/${name}`, { spec: { strategy: { paused: true } } }, `--field-manager=${textOf('field manager')}`)
}

/** Events about the Rollout, and about its pod on {@link TEXT_NODE}. */
function writeEvents(stage: DevStage, name: string, textOf: (place: TenantPlace) => string): void {
  const uid = stage.kubectl('-n', AGENTS, 'get', 'rollout', name, '-o', 'jsonpath={.metadata.uid}')
  stage.apply(
    eventAbout({ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name, uid }, [textOf('event reason'), textOf('event message')]),
  )
  const onNode = ['-n', AGENTS, 'get', 'pods', '-l', `app=${name}`, '--field-selector', `spec.nodeName=${TEXT_NODE}`]
  const [pod = '', podUid = ''] = stage.kubectl(...onNode, '-o', 'jsonpath={.items[0].metadata.name} {.items[0].metadata.uid}').split(' ')
  const texts = [textOf('pod event reason'), textOf('pod event message'), textOf('pod event source')] as const
  stage.apply(eventAbout({ apiVersion: 'v1', kind: 'Pod', name: pod, uid: podUid }, texts))
}

type EventTexts = readonly [reason: string, message: string, source?: string]

function eventAbout(
  object: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string },
  [reason, message, component = 'tenant']: EventTexts,
): object {
  const at = new Date().toISOString().replace(/\.\d+/, '')
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: AGENTS, name: `${object.name}.written` },
    involvedObject: { ...object, namespace: AGENTS },
    type: 'Warning',
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  }
}

/** The pod of the new version says why it does not run. */
function writePod(stage: DevStage, name: string, textOf: (place: TenantPlace) => string): void {
  const label = 'rollouts.kruise.io/rollout-batch-id=1'
  const [pod = ''] = stage.kubectl('-n', AGENTS, 'get', 'pods', '-l', `app=${name},${label}`, '-o', 'name').split('\n')
  const waiting = { reason: textOf('pod reason'), message: textOf('pod message') }
  const container = { name: 'agent', image: agentImage(name, 'v2'), imageID: '', ready: false, restartCount: 7, state: { waiting } }
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: new Date().toISOString().replace(/\.\d+/, '') }]
  patch(stage, pod, { status: { conditions, containerStatuses: [container] } }, '--subresource=status')
}

function patch(stage: DevStage, object: string, change: object, ...options: readonly string[]): void {
  const type = object.startsWith('rollout/') ? 'merge' : 'strategic'
  stage.kubectl('-n', AGENTS, 'patch', object, `--type=${type}`, ...options, '-p', JSON.stringify(change))
}

/** Pages that show the texts, below the dashboard's base, with the places that each shows. */
export const tenantPages: readonly { readonly path: string; readonly places: readonly TenantPlace[] }[] = [
  {
    path: `rollouts/${AGENTS}/texts`,
    places: [
      'image',
      'template annotation',
      'argument',
      'change cause',
      'action reason',
      'action user',
      'action address',
      'refused reason',
      'refused user',
      'field manager',
      'event message',
      'event reason',
      'pod reason',
      'pod message',
    ],
  },
  { path: `rollouts/${AGENTS}/texts/nodes/${TEXT_NODE}`, places: ['pod event message', 'pod event reason', 'pod event source'] },
  { path: `rollouts/${AGENTS}/texts-steps`, places: ['step size'] },
  { path: `rollouts/${AGENTS}/texts-workload`, places: ['workload name'] },
  { path: `rollouts/${AGENTS}/texts-policy`, places: ['policy name'] },
  { path: `rollouts/${AGENTS}/texts-policy/policy`, places: ['policy name'] },
  { path: `rollouts/${AGENTS}/texts-query`, places: ['policy query'] },
  { path: 'record', places: ['action reason', 'action user', 'action address', 'refused reason', 'field manager'] },
  { path: '', places: ['image', 'pod reason', 'pod message', 'step size', 'workload name', 'policy name', 'policy query'] },
]
