import { valueIn } from '@tranche/kube-types'
import type { KubeObject } from '@tranche/kube-types'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { errorResponse, isWatch, jsonResponse } from '../reading/host-response.ts'
import { type ArgoApi, ArgoError } from './argo-api.ts'
import type { ArgoNode, ArgoRef, ArgoTree } from './argo-types.ts'
import { type KubePath, parseKubePath } from './kube-path.ts'
import { daemonSetPods, podsOfTree } from './pods-of-tree.ts'

const kinds: Readonly<Record<string, string>> = {
  rollouts: 'Rollout',
  batchreleases: 'BatchRelease',
  releasepolicies: 'ReleasePolicy',
  daemonsets: 'DaemonSet',
  controllerrevisions: 'ControllerRevision',
  pods: 'Pod',
}

/** Dependencies of {@link argoExchange}. */
export interface ArgoExchangeOptions {
  readonly api: ArgoApi
  /** Epoch milliseconds. */
  readonly nowMs: () => number
}

/**
 * Exchange that answers requests to the Kubernetes API from what Argo CD gives its user: the tree of one application, the live objects in it,
 * and patches of them. Argo CD reads and writes with its own account, and decides by its own RBAC. Everything else is answered with 403, as an
 * API server answers a user without the right.
 */
export function argoExchange(options: ArgoExchangeOptions): Exchange {
  const source = new ArgoSource(options)
  return async (request, signal) => {
    try {
      return await source.answer(request, signal)
    } catch (error) {
      if (error instanceof ArgoError) return errorResponse(statusFor(request, error), request.method, error.message)
      throw error
    }
  }
}

class ArgoSource {
  readonly #api: ArgoApi
  readonly #nowMs: () => number
  readonly #tree: () => Promise<ArgoTree>
  /** Objects that do not change, by uid and version. */
  readonly #kept = new Map<string, KubeObject>()

  constructor(options: ArgoExchangeOptions) {
    this.#api = options.api
    this.#nowMs = options.nowMs
    this.#tree = sharedTree(options)
  }

  async answer(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const path = parseKubePath(request.path)
    if (isWatch(request.path) || path === null) return refused(request)
    if (request.method === 'GET') return path.name === '' ? this.#list(path, signal) : this.#read(path, signal)
    if (request.method === 'PATCH') return this.#patch(path, request, signal)
    if (request.method === 'POST' && path.plural === 'selfsubjectreviews')
      return jsonResponse({ status: { userInfo: { username: await this.#api.username() } } }, 201)
    return refused(request)
  }

  async #read(path: KubePath, signal: AbortSignal): Promise<WireResponse> {
    const ref = refOf(path)
    if (ref === null) return outside('GET', path.name)
    const found = await this.#inTree(ref, () => this.#api.resource(ref, signal))
    // Argo CD lists every child of a Rollout, so a BatchRelease that is not listed does not exist.
    const isWhole = path.plural === 'batchreleases' || path.plural === 'rollouts'
    return found ?? errorResponse(isWhole ? 404 : 403, 'GET', notPart(path.name))
  }

  async #patch(path: KubePath, { body = '', headers }: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const ref = refOf(path)
    if (ref === null) return outside('PATCH', path.name)
    const type = headers['content-type'] ?? ''
    const found = await this.#inTree(ref, () => this.#api.patch(ref, { type, body }, signal))
    return found ?? errorResponse(403, 'PATCH', notPart(path.name))
  }

  /** @returns the answer for an object; null if the object is not part of the application */
  async #inTree(ref: ArgoRef, ask: () => Promise<string>): Promise<WireResponse | null> {
    if (find(await this.#tree(), ref) === undefined) return null
    return jsonResponse(JSON.parse(await ask()))
  }

  async #list(path: KubePath, signal: AbortSignal): Promise<WireResponse> {
    const { nodes = [] } = await this.#tree()
    const { namespace, plural } = path
    switch (plural) {
      case 'pods': {
        const one = async (pod: ArgoNode): Promise<KubeObject | null> => (await this.#liveObjects([pod], signal))[0] ?? null
        return listOf(await podsOfTree(daemonSetPods(nodes, namespace), one, new Date(this.#nowMs()).toISOString()))
      }
      case 'controllerrevisions': {
        const revisions = nodes.filter((node) => node.kind === 'ControllerRevision' && node.namespace === namespace)
        return listOf(await this.#liveObjects(revisions, signal))
      }
      case 'events':
        // Argo CD has no events of what is not part of an application, such as a node.
        return path.query.get('fieldSelector')?.includes('involvedObject.kind=Node') === true
          ? outside('GET', plural)
          : listOf(await this.#events(nodes, path, signal))
      default:
        return outside('GET', plural)
    }
  }

  async #events(nodes: readonly ArgoNode[], { namespace, query }: KubePath, signal: AbortSignal): Promise<readonly object[]> {
    const [, field, value] = /involvedObject\.(name|uid)=([^,]+)/.exec(query.get('fieldSelector') ?? '') ?? []
    const isAbout = (node: ArgoNode): boolean => (field === 'uid' ? node.uid === value : node.name === value && node.kind !== 'Pod')
    const about = nodes.filter((node) => node.namespace === namespace && isAbout(node))
    return (await Promise.all(about.map(async (node) => (await this.#api.events(node, signal)).items ?? []))).flat()
  }

  /** Objects that still exist. */
  async #liveObjects(nodes: readonly ArgoNode[], signal: AbortSignal): Promise<readonly KubeObject[]> {
    const all = await Promise.all(
      nodes.map(async (node) => {
        const id = `${node.uid} ${node.resourceVersion}`
        const known = this.#kept.get(id)
        if (known !== undefined) return known
        const object = await this.#api.resource(node, signal).then((text) => JSON.parse(text) as KubeObject, nullIfGone)
        if (object !== null && node.kind === 'ControllerRevision') this.#kept.set(id, object)
        return object
      }),
    )
    return all.filter((object) => object !== null)
  }
}

/** Age up to which a tree answers further requests, in milliseconds: a page asks for several objects within moments. */
const TREE_FRESH_MS = 1_000

/** @returns function that reads the tree, once for all who ask within {@link TREE_FRESH_MS}, or while it is being read */
function sharedTree({ api, nowMs }: ArgoExchangeOptions): () => Promise<ArgoTree> {
  let last: { readonly tree: Promise<ArgoTree>; readonly atMs: number; isRead: boolean } | null = null
  return async () => {
    if (last !== null && (!last.isRead || nowMs() - last.atMs < TREE_FRESH_MS)) return last.tree
    const next = { tree: api.tree(), atMs: nowMs(), isRead: false }
    last = next
    next.tree.then(
      () => (next.isRead = true),
      // Refused: the next request asks again.
      () => {
        if (last === next) last = null
      },
    )
    return next.tree
  }
}

function refOf({ group, version, plural, namespace, name }: KubePath): ArgoRef | null {
  const kind = valueIn(kinds, plural)
  return kind === undefined ? null : { group, version, kind, namespace, name }
}

function find({ nodes = [] }: ArgoTree, { group, kind, namespace, name }: ArgoRef): ArgoNode | undefined {
  return nodes.find((node) => node.kind === kind && (node.group ?? '') === group && node.namespace === namespace && node.name === name)
}

function listOf(items: readonly object[]): WireResponse {
  return jsonResponse({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '0' }, items })
}

function nullIfGone(error: unknown): null {
  if (error instanceof ArgoError && (error.status === 400 || error.status === 404)) return null
  throw error
}

/** Argo CD answers an invalid patch, such as one whose test failed, with 400. */
function statusFor({ method }: WireRequest, { status }: ArgoError): number {
  return method === 'PATCH' && status === 400 ? 422 : status
}

function refused({ method, path }: WireRequest): WireResponse {
  return outside(method, path.split('?', 1)[0] ?? '')
}

function outside(method: string, what: string): WireResponse {
  return errorResponse(403, method, `Argo CD does not give access to ${what}`)
}

function notPart(name: string): string {
  return `${name} is not part of this application`
}
