import { type PolicyObject, admissionPolicies } from '@tranche/admission'
import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createUndiciExchange, loadKubeConfig } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { createSimulator } from '@tranche/sim'
import { bodyText, type Exchange } from '@tranche/wire'

/** An answer of the API server. */
export interface Answer {
  readonly status: number
  readonly warning: string | undefined
  /** A DaemonSet, a Rollout or a Status, whichever was asked for. */
  readonly body: DaemonSet & Rollout & Refusal
}

/** What a Status tells. */
export interface Refusal {
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly field?: string }[] }
}

/** A cluster in which our admission policies are in force, without anything else of ours. */
export interface PolicyCluster {
  /** A namespace of our own. */
  readonly namespace: string
  /** @param manager `fieldManager` of the request; null sends none */
  send(method: string, path: string, body?: object, manager?: string | null): Promise<Answer>
  end(): Promise<void>
}

/** The cluster of the kubeconfig that `TRANCHE_TEST_KUBECONFIG` names; the simulator where it names none. */
export async function startPolicyCluster(): Promise<PolicyCluster> {
  const kubeconfig = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  return kubeconfig === '' ? onSimulator() : onCluster(kubeconfig)
}

async function onSimulator(): Promise<PolicyCluster> {
  const send = sender(createSimulator({ clock: systemClock, nodes: 0 }).exchangeFor('admin'))
  for (const crd of customResourceDefinitions) await created(send, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  for (const policy of admissionPolicies) await created(send, pathOf(policy), policy)
  return { namespace: 'default', send, end: async () => undefined }
}

async function onCluster(path: string): Promise<PolicyCluster> {
  const { exchange, close } = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path }))
  const send = sender(exchange)
  const run = `policies-${Date.now().toString(36)}`
  const policies = admissionPolicies.map((policy) => named(policy, run))
  for (const crd of customResourceDefinitions) await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  for (const policy of policies) await created(send, pathOf(policy), policy)
  await created(send, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: run } })
  await whenInForce(send, run)
  return {
    namespace: run,
    send,
    async end() {
      for (const policy of policies.toReversed()) await send('DELETE', `${pathOf(policy)}/${policy.metadata.name}`)
      await send('DELETE', `/api/v1/namespaces/${run}`)
      await close()
    },
  }
}

function named(policy: PolicyObject, run: string): PolicyObject {
  const name = `${run}-${policy.metadata.name}`
  const isBinding = 'policyName' in policy.spec
  return { ...policy, metadata: { name }, spec: { ...policy.spec, ...(isBinding && { policyName: name }) } }
}

function pathOf({ kind }: PolicyObject): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind.endsWith('Policy') ? kind.toLowerCase().replace(/y$/, 'ies') : `${kind.toLowerCase()}s`}`
}

function sender(exchange: Exchange): PolicyCluster['send'] {
  return async (method, path, body, manager = 'kubectl') => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const query = manager === null || method === 'GET' || method === 'DELETE' ? '' : `?fieldManager=${manager}`
    const request = { method, path: path + query, headers: { 'content-type': type, accept: 'application/json' } }
    const answer = await exchange({ ...request, ...(body && { body: JSON.stringify(body) }) }, AbortSignal.timeout(30_000))
    return { status: answer.status, warning: answer.headers['warning'], body: JSON.parse(await bodyText(answer)) as Answer['body'] }
  }
}

async function created(send: PolicyCluster['send'], path: string, object: object): Promise<void> {
  const { status, body } = await send('POST', path, object)
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`)
}

/** An API server learns of new policies, of new definitions and of namespaces a moment later, each by itself. */
async function whenInForce(send: PolicyCluster['send'], namespace: string): Promise<void> {
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
  throw new Error('the policies are not in force')
}
