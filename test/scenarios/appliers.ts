import { bodyText, type Exchange } from '@tranche/wire'
import { drive, type Stage } from './stage.ts'

/** A manifest as it is in Git. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace?: string; readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly [field: string]: unknown
}

/** Applies a manifest over the wire, as one kind of tool does. @returns status code and body of the answer */
export type Applier = (stage: Stage, manifest: Manifest) => Promise<{ readonly status: number; readonly text: string }>

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Like `kubectl apply`: patches every field of the manifest, and stores the manifest as an annotation. */
export const applyByClient: Applier = (stage, manifest) => {
  const annotations = { ...manifest.metadata.annotations, [LAST_APPLIED]: `${JSON.stringify(manifest)}\n` }
  const body = JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, annotations } })
  const type = manifest.kind === 'DaemonSet' ? 'application/strategic-merge-patch+json' : 'application/merge-patch+json'
  return send(stage, { method: 'PATCH', manifest, type, body, query: 'fieldManager=kubectl-client-side-apply' })
}

/** Like `kubectl apply --server-side`. */
export const applyByServer: Applier = (stage, manifest) => sendApply(stage, manifest, 'fieldManager=kubectl')

/** Like Argo CD and Flux: takes ownership of fields from other managers. */
export const applyByForce: Applier = (stage, manifest) => sendApply(stage, manifest, 'fieldManager=gitops&force=true')

/** Like `kubectl replace`: fields that the manifest omits are removed. Reads the version that it replaces. */
export const replaceWhole: Applier = async (stage, manifest) => {
  const { text } = await send(stage, { method: 'GET', manifest })
  const { metadata } = JSON.parse(text) as Manifest & { readonly metadata: { readonly resourceVersion: string } }
  const body = JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, resourceVersion: metadata.resourceVersion } })
  return send(stage, { method: 'PUT', manifest, type: 'application/json', body, query: 'fieldManager=kubectl-replace' })
}

/** Like a migration to server-side apply: afterwards only kubectl owns the fields of the manifest. */
export const takeOver: Applier = async (stage, manifest) => {
  const { text } = await sendApply(stage, manifest, 'fieldManager=kubectl&force=true')
  const { managedFields } = (JSON.parse(text) as { readonly metadata: { readonly managedFields: readonly ManagedFields[] } }).metadata
  const value = managedFields.filter(({ manager }) => manager !== 'story')
  const body = JSON.stringify([{ op: 'replace', path: '/metadata/managedFields', value }])
  return send(stage, { method: 'PATCH', manifest, type: 'application/json-patch+json', body, query: 'fieldManager=kubectl' })
}

interface ManagedFields {
  readonly manager: string
}

function sendApply(stage: Stage, manifest: Manifest, query: string): ReturnType<Applier> {
  return send(stage, { method: 'PATCH', manifest, type: 'application/apply-patch+yaml', body: JSON.stringify(manifest), query })
}

interface Sending {
  readonly method: string
  readonly manifest: Manifest
  readonly type?: string
  readonly body?: string
  readonly query?: string
}

async function send({ clock, simulator }: Stage, { method, manifest, type, body, query = '' }: Sending): ReturnType<Applier> {
  const exchange: Exchange = simulator.exchangeFor('gitops', 'everything')
  const { apiVersion, kind, metadata } = manifest
  const path = `/apis/${apiVersion}/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}?${query}`
  const headers = { 'user-agent': 'gitops/1', ...(type !== undefined && { 'content-type': type }) }
  return drive(
    clock,
    exchange({ method, path, headers, body }, new AbortController().signal).then(async (answer) => ({
      status: answer.status,
      text: await bodyText(answer),
    })),
  )
}
