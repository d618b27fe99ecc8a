import type { ArgoApplication, ArgoRef, ArgoTree } from './argo-types.ts'

/** REST API of Argo CD for one application, with the session of its user. */
export interface ArgoApi {
  /** Several readers share one answer, so none of them can abort it; it ends after {@link TREE_DEADLINE_MS}. */
  tree(): Promise<ArgoTree>
  /** @returns the live object as JSON. Rejects with 400 if it is not part of the application */
  resource(ref: ArgoRef, signal: AbortSignal): Promise<string>
  /** Patches a live object. @returns the object as JSON */
  patch(ref: ArgoRef, patch: { readonly type: string; readonly body: string }, signal: AbortSignal): Promise<string>
  /** @returns a list of events about a resource of the tree */
  events(ref: ArgoRef, signal: AbortSignal): Promise<{ readonly items?: readonly object[] }>
  username(): Promise<string>
  /** Whether the user may change live resources of the application. */
  mayUpdate(signal?: AbortSignal): Promise<boolean>
}

/** An answer of Argo CD with an error. */
export class ArgoError extends Error {
  override readonly name = 'ArgoError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Name of an application in rules of Argo CD's RBAC. */
export function rbacName({ metadata, spec }: ArgoApplication): string {
  const { namespace, name } = metadata
  return [spec.project, ...(namespace === undefined ? [] : [namespace]), name].join('/')
}

/** Longest time for reading the tree, in milliseconds. */
const TREE_DEADLINE_MS = 30_000

/** @param base URL of Argo CD, with a slash at its end */
export function createArgoApi(application: ArgoApplication, base: string, send: typeof fetch): ArgoApi {
  const { name, namespace: appNamespace = '' } = application.metadata
  const own = `applications/${encodeURIComponent(name)}`
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await send(new URL(`api/v1/${path}`, base), { credentials: 'same-origin', ...init })
    if (response.ok) return (await response.json()) as T
    const text = await response.text()
    throw new ArgoError(response.status, messageIn(text) ?? `Argo CD answered with ${response.status}`)
  }
  const queryOf = ({ namespace = '', name: resourceName, version, kind, group = '' }: ArgoRef): Record<string, string> => ({
    ...{ appNamespace, project: application.spec.project, namespace, resourceName, version, kind, group },
  })
  const manifest = async (path: string, init: RequestInit): Promise<string> =>
    (await call<{ readonly manifest: string }>(path, init)).manifest
  return {
    tree: () =>
      call(`${own}/resource-tree?${query({ appNamespace, project: application.spec.project })}`, {
        signal: AbortSignal.timeout(TREE_DEADLINE_MS),
      }),
    resource: (ref, signal) => manifest(`${own}/resource?${query(queryOf(ref))}`, { signal }),
    patch: (ref, { type, body }, signal) =>
      manifest(`${own}/resource?${query({ ...queryOf(ref), patchType: type })}`, {
        method: 'POST',
        // The body is the patch as a JSON string.
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
        signal,
      }),
    events: ({ name: resourceName, namespace: resourceNamespace = '', uid: resourceUID = '' }, signal) =>
      call(`${own}/events?${query({ appNamespace, resourceName, resourceNamespace, resourceUID })}`, { signal }),
    username: async () => (await call<{ readonly username?: string }>('session/userinfo', {})).username ?? 'unknown',
    mayUpdate: async (signal) =>
      (await call<{ readonly value?: string }>(`account/can-i/applications/update/${rbacName(application)}`, { signal: signal ?? null }))
        .value === 'yes',
  }
}

function query(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(values).toString()
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
