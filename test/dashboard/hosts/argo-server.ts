import type { IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:https'
import { AGENTS } from '../agent-objects.ts'
import type { HostRoute, StageServer } from './host-stage.ts'

/** Headers that Argo CD sends with its page. */
export const argoHeaders = {
  'content-security-policy': "frame-ancestors 'self';",
  'x-frame-options': 'sameorigin',
  'x-xss-protection': '1',
} as const

/** @returns the script that Argo CD makes of an extension: an error of one does not stop the others */
export function extensionsScript(extension: string): string {
  return `// source: extension\ntry {\n${extension}\n} catch(e) { console.error('Extension failed to load:', e); }\n`
}

/** Rights of the user of Argo CD. */
export interface ArgoUser {
  readonly username: string
  readonly mayUpdate: boolean
}

interface Live {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly labels?: object
    readonly deletionTimestamp?: string
    readonly ownerReferences?: readonly {
      readonly apiVersion: string
      readonly kind: string
      readonly name: string
      readonly uid: string
    }[]
  }
  readonly spec?: { readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly state?: { readonly waiting?: { readonly reason: string } } }[]
  }
}

const resources: readonly { readonly group: string; readonly version: string; readonly kind: string; readonly plural: string }[] = [
  { group: 'rollouts.kruise.io', version: 'v1beta1', kind: 'Rollout', plural: 'rollouts' },
  { group: 'rollouts.kruise.io', version: 'v1beta1', kind: 'BatchRelease', plural: 'batchreleases' },
  { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets' },
  { group: 'apps', version: 'v1', kind: 'ControllerRevision', plural: 'controllerrevisions' },
  { group: '', version: 'v1', kind: 'Pod', plural: 'pods' },
]

/**
 * The routes of Argo CD's API that the tab uses, for an application with everything in the namespace of the agents. Reads and writes with an
 * account of its own, as Argo CD does, and decides by the rights of the user.
 */
export function argoRoute(server: StageServer, user: () => ArgoUser): HostRoute {
  const kube = (method: string, path: string, body?: string, type = 'application/json'): Promise<{ status: number; text: string }> =>
    ask(server, { method, path, type, ...(body !== undefined && { body }) })
  return async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://argo')
    const path = pathname.replace('/api/v1/', '')
    if (path === 'session/userinfo') return answer(response, 200, { loggedIn: true, username: user().username })
    if (path === 'account/can-i/applications/update/default/argocd/agents')
      return answer(response, 200, { value: user().mayUpdate ? 'yes' : 'no' })
    if (path === 'applications/agents/resource-tree') return answer(response, 200, { nodes: await tree(kube) })
    if (path === 'applications/agents/events') return answer(response, 200, await eventsOf(kube, searchParams))
    if (path === 'applications/agents/resource') return resource(incoming, response, searchParams)
    answer(response, 404, { code: 5, message: 'not found' })
  }

  async function resource(incoming: IncomingMessage, response: ServerResponse, asked: URLSearchParams): Promise<void> {
    const kind = resources.find((one) => one.kind === asked.get('kind') && one.group === asked.get('group'))
    if (kind === undefined) return answer(response, 400, { code: 3, message: 'not found as part of application' })
    const path = `${collection(kind)}/${asked.get('resourceName')}`
    if (incoming.method === 'GET') return manifest(response, await kube('GET', path))
    if (!user().mayUpdate) return answer(response, 403, { code: 7, message: 'permission denied: applications, update' })
    if (incoming.headers['content-type'] !== 'application/json') return answer(response, 415, { message: 'Invalid content type' })
    const patch = JSON.parse(await textOf(incoming)) as string
    manifest(response, await kube('PATCH', path, patch, asked.get('patchType') ?? ''))
  }
}

type Kube = (method: string, path: string, body?: string, type?: string) => Promise<{ readonly status: number; readonly text: string }>

/** Argo CD maps errors of Kubernetes to those of gRPC, and these to HTTP. */
function manifest(response: ServerResponse, { status, text }: { readonly status: number; readonly text: string }): void {
  if (status < 300) return answer(response, 200, { manifest: text })
  const { message } = JSON.parse(text) as { readonly message?: string }
  answer(response, status === 422 ? 400 : status, { code: 3, message })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function collection({ group, version, plural }: (typeof resources)[number]): string {
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/namespaces/${AGENTS}/${plural}`
}

async function tree(kube: Kube): Promise<readonly object[]> {
  const lists = await Promise.all(
    resources.map(async (resource) => {
      const { items } = JSON.parse((await kube('GET', collection(resource))).text) as { readonly items: readonly Live[] }
      return items.map((live) => nodeOf(resource, live))
    }),
  )
  return lists.flat()
}

function nodeOf({ group, version, kind }: (typeof resources)[number], { metadata, spec, status }: Live): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, deletionTimestamp, ownerReferences = [] } = metadata
  const containers = status?.containerStatuses ?? []
  const waiting = containers.find(({ state }) => state?.waiting !== undefined)?.state?.waiting?.reason
  const reason = deletionTimestamp === undefined ? (waiting ?? status?.phase) : 'Terminating'
  return {
    ...{ group, version, kind, namespace, name, uid, resourceVersion, createdAt: creationTimestamp },
    parentRefs: ownerReferences.map((owner) => {
      const [ownerGroup, ownerVersion] = owner.apiVersion.split('/')
      return { group: ownerGroup, version: ownerVersion, kind: owner.kind, namespace, name: owner.name, uid: owner.uid }
    }),
    ...(kind === 'Pod' && {
      networkingInfo: { labels },
      info: [
        { name: 'Status Reason', value: reason },
        { name: 'Node', value: spec?.nodeName },
        { name: 'Containers', value: `${containers.filter(({ ready }) => ready).length}/${containers.length}` },
      ],
    }),
  }
}

async function eventsOf(kube: Kube, asked: URLSearchParams): Promise<object> {
  const selector = `involvedObject.name=${asked.get('resourceName')},involvedObject.uid=${asked.get('resourceUID')}`
  return JSON.parse((await kube('GET', `/api/v1/namespaces/${AGENTS}/events?fieldSelector=${encodeURIComponent(selector)}`)).text) as object
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly body?: string
}

function ask({ server, ca, token }: StageServer, { method, path, type, body }: Asked): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'user-agent': 'argocd-server/v3.5.1 (linux/amd64)' }
    const outgoing = request(new URL(path, server), { method, ca, headers }, (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) text += chunk as string
  return text
}
