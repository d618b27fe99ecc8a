import { FakeClock } from '@tranche/clock'
import { type ApiObject, ApiStatusError, type ApiServer, type ApiServerOptions, createApiServer, type WatchEvent } from '@tranche/sim-api'

/** A server on a clock that the test moves. */
export function aServer(options: Partial<ApiServerOptions> = {}): { readonly server: ApiServer; readonly clock: FakeClock } {
  const clock = new FakeClock()
  return { clock, server: createApiServer({ clock, seed: 1, ...options }) }
}

/** A pod as a user writes it. */
export function aPod(name: string, parts: { readonly metadata?: object; readonly spec?: object } = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...parts.metadata },
    spec: { containers: [{ name: 'main', image: 'agent:1' }], ...parts.spec },
  }
}

/** A DaemonSet as a user writes it. */
export function aDaemonSet(name: string, spec: object = {}) {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'agent:1' }] } },
      ...spec,
    },
  }
}

/** A ConfigMap as a user writes it. */
export function aConfigMap(name: string, parts: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...parts } }
}

/** A CustomResourceDefinition of namespaced Widgets with a status subresource. */
export function aWidgetDefinition() {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer', minimum: 0 }, colour: { type: 'string', default: 'grey' } } },
      status: { type: 'object', properties: { seen: { type: 'integer' } } },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
    },
  }
}

/** @returns the error with which the request is answered */
export async function refusal(request: Promise<unknown>): Promise<ApiStatusError> {
  try {
    await request
  } catch (error) {
    if (error instanceof ApiStatusError) return error
    throw error
  }
  throw new Error('the request was not refused')
}

/** @returns a short text for each event: `ADDED a`, `SYNCED` */
export function textOf(event: WatchEvent): string {
  return event.type === 'SYNCED' ? 'SYNCED' : `${event.type} ${event.object.metadata.name}`
}

/** @returns the value of a field, by path */
export function at(object: ApiObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, field) => (value as Record<string, unknown> | undefined)?.[field], object)
}
