import { type PolicyObject, admissionPolicies } from '@tranche/admission'
import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createUndiciExchange, loadKubeConfig } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { createSimulator } from '@tranche/sim'
import { bodyText, type Exchange } from '@tranche/wire'
import { startTestWebhook, type WebhookAddress, webhookConfigurations } from './test-webhook.ts'

/** Answer of the API server. */
export interface Answer {
  readonly status: number
  readonly warning: string | undefined
  /** The requested DaemonSet or Rollout, or a Status. */
  readonly body: DaemonSet & Rollout & Refusal
}

/** Fields of a Status. */
export interface Refusal {
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly field?: string }[] }
}

/** How Tranche's admission is in force: by policies, or by webhooks that this process serves. */
export type AdmissionWay = 'policy' | 'webhook'

/** Cluster with Tranche's admission in force and no other part of Tranche. */
export interface AdmissionCluster {
  /** Namespace of this run. */
  readonly namespace: string
  /** @param manager `fieldManager` of the request; null sends none */
  send(method: string, path: string, body?: object, manager?: string | null): Promise<Answer>
  /** From now on the API server calls the webhooks at this address. Only for webhooks. @param fields more fields of each webhook */
  askAt(webhook: WebhookAddress, fields?: object): Promise<void>
  /** Address that serves the webhooks. Only for webhooks. */
  readonly webhook: WebhookAddress
  end(): Promise<void>
}

/** Uses the cluster of the kubeconfig in `TRANCHE_TEST_KUBECONFIG`, or the simulator if the variable is not set. */
export async function startAdmissionCluster(way: AdmissionWay): Promise<AdmissionCluster> {
  const path = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  if (path !== '') {
    const { exchange, close } = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path }))
    return furnished(way, exchange, close)
  }
  return furnished(way, createSimulator({ clock: systemClock, nodes: 0 }).exchangeFor('admin'), async () => undefined)
}

async function furnished(way: AdmissionWay, exchange: Exchange, close: () => Promise<void>): Promise<AdmissionCluster> {
  const send = sender(exchange)
  const run = `${way}-${Date.now().toString(36)}`
  for (const crd of customResourceDefinitions) await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  await created(send, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: run } })
  const server = way === 'policy' ? null : await startTestWebhook(exchange)
  const objects = server === null ? admissionPolicies.map((policy) => named(policy, run)) : webhookConfigurations(run, server)
  for (const object of objects) await created(send, pathOf(object), object)
  await whenInForce(send, run)
  return {
    namespace: run,
    send,
    webhook: server ?? { url: '', authority: '' },
    async askAt(webhook, fields = {}) {
      for (const object of webhookConfigurations(run, webhook, fields)) {
        const path = `${pathOf(object)}/${run}`
        const { body } = await send('GET', path)
        const { resourceVersion } = body.metadata
        const { status, body: said } = await send('PUT', path, { ...object, metadata: { name: run, resourceVersion } })
        if (status !== 200) throw new Error(`PUT ${path}: ${status} ${JSON.stringify(said)}`)
      }
    },
    async end() {
      for (const object of objects.toReversed()) await send('DELETE', `${pathOf(object)}/${object.metadata.name}`)
      await send('DELETE', `/api/v1/namespaces/${run}`)
      await server?.end()
      await close()
    },
  }
}

interface Named {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

/** Makes a policy apply to this run and its namespace only, because other clients may use the cluster at the same time. */
function named(policy: PolicyObject, run: string): PolicyObject {
  const name = `${run}-${policy.metadata.name}`
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': run } } }
  const binding = 'policyName' in policy.spec && { policyName: name, matchResources }
  return { ...policy, metadata: { name }, spec: { ...policy.spec, ...binding } }
}

function pathOf({ kind }: Named): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind.endsWith('Policy') ? kind.toLowerCase().replace(/y$/, 'ies') : `${kind.toLowerCase()}s`}`
}

function sender(exchange: Exchange): AdmissionCluster['send'] {
  return async (method, path, body, manager = 'kubectl') => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const query = manager === null || method === 'GET' || method === 'DELETE' ? '' : `?fieldManager=${manager}`
    const request = { method, path: path + query, headers: { 'content-type': type, accept: 'application/json' } }
    const answer = await exchange({ ...request, ...(body && { body: JSON.stringify(body) }) }, AbortSignal.timeout(30_000))
    return { status: answer.status, warning: answer.headers['warning'], body: JSON.parse(await bodyText(answer)) as Answer['body'] }
  }
}

async function created(send: AdmissionCluster['send'], path: string, object: object): Promise<void> {
  const { status, body } = await send('POST', path, object)
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`)
}

/** Waits until admission works. An API server notices new policies, definitions and namespaces a moment later, each separately. */
async function whenInForce(send: AdmissionCluster['send'], namespace: string): Promise<void> {
  const path = `/apis/rollouts.kruise.io/v1beta1/namespaces/${namespace}/rollouts`
  const sets = `/apis/apps/v1/namespaces/${namespace}/daemonsets`
  const spec = { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a' }, strategy: { canary: { steps: [] } } }
  const annotations = { 'tranche.dev/rollout': 'a' }
  const labels = { 'rollouts.kruise.io/workload-type': 'daemonset' }
  const template = (image: string) => ({
    metadata: { labels: { app: 'a' } },
    spec: { nodeSelector: { none: 'none' }, containers: [{ name: 'a', image }] },
  })
  const set = (image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a', annotations, labels },
    spec: { selector: { matchLabels: { app: 'a' } }, template: template(image) },
  })
  for (let asked = 0; asked < 1000; asked++) {
    const rollout = await send('POST', `${path}`, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { name: 'a' },
      spec,
    })
    await send('DELETE', `${path}/a`)
    await send('POST', sets, set('a:1'))
    const { body } = await send('PUT', `${sets}/a`, set('a:2'))
    await send('DELETE', `${sets}/a`)
    if (rollout.status === 422 && body.spec?.updateStrategy?.type === 'OnDelete') return
  }
  throw new Error('admission is not in force')
}
