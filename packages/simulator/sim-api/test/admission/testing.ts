import { systemClock } from '@tranche/clock'
import {
  type ApiObject,
  type ApiServer,
  type ApiServerOptions,
  type ApiStatus,
  createApiServer,
  createHttpFront,
  inProcessExchange,
  listen,
  resources,
} from '@tranche/sim-api'
import { bodyText, type Exchange, type WireRequest } from '@tranche/wire'
import { onTestFinished } from 'vitest'

/** `request` of an AdmissionReview, with the fields that tests read. */
export interface AskedReview {
  readonly uid: string
  readonly name?: string
  readonly operation: string
  readonly object: ApiObject | null
  readonly oldObject: ApiObject | null
  readonly [field: string]: unknown
}

/** A webhook that answers from this process. */
export interface Hook {
  readonly url: string
  readonly ca: string
  readonly asked: readonly AskedReview[]
}

/** Starts a webhook on a TLS socket. @param answer `response` without its uid, or a whole answer with status and text */
export async function startHook(answer: (request: AskedReview) => object): Promise<Hook> {
  const asked: AskedReview[] = []
  const handle: Exchange = async ({ body }) => {
    const { request } = JSON.parse(body ?? '') as { request: AskedReview }
    asked.push(request)
    const given = answer(request)
    if ('text' in given) return wireAnswer('status' in given ? Number(given.status) : 200, String(given.text))
    if ('never' in given) return new Promise(() => undefined)
    const response = { uid: request.uid, ...given }
    return wireAnswer(200, JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }))
  }
  const server = await listen({ handle, endWatches: () => undefined }, { port: 0 })
  onTestFinished(() => server.close())
  return { url: `${server.url}/admit`, ca: Buffer.from(server.caCertificate).toString('base64'), asked }
}

/** A server, and how it answers a request of its administrator over HTTP. */
export function setUp(options: Partial<ApiServerOptions> = {}) {
  const server = createApiServer({ clock: systemClock, seed: 1, ...options })
  const tokens = { secret: { name: 'admin', groups: ['system:masters'] } }
  const exchange = inProcessExchange(createHttpFront(server, { tokens, clock: systemClock }), 'secret')
  async function send(method: string, path: string, body?: object, headers: WireRequest['headers'] = {}): Promise<Answer> {
    const sent = { method, path, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await exchange(sent, new AbortController().signal)
    const json = JSON.parse(await bodyText(answer)) as Answer['json']
    return { status: answer.status, warning: answer.headers['warning'], json }
  }
  return { server, send, createMap: (name: string, more: object = {}, query = '') => send('POST', `${MAPS}${query}`, aMap(name, more)) }
}

/** An answer over HTTP. */
export interface Answer {
  readonly status: number
  readonly warning: string | undefined
  readonly json: ApiObject & ApiStatus
}

/** Path of the ConfigMaps of the default namespace. */
export const MAPS = '/api/v1/namespaces/default/configmaps'

/** A ConfigMap. */
export function aMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, ...more }
}

/** Stores a configuration of one webhook for ConfigMaps. @param more fields of the webhook */
export async function addHook(
  server: ApiServer,
  kind: 'Mutating' | 'Validating',
  hook: Partial<Hook>,
  more: object = {},
): Promise<ApiObject> {
  const webhook = {
    name: 'maps.example.com',
    clientConfig: { url: hook.url ?? 'https://127.0.0.1:1/admit', ...(hook.ca && { caBundle: hook.ca }) },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  }
  const id = kind === 'Mutating' ? resources.mutatingWebhookConfigurations : resources.validatingWebhookConfigurations
  const { length } = (await server.clientFor({ name: 'admin' }).list(id)).items
  const metadata = { name: `hooks-${length + 1}` }
  return server.clientFor({ name: 'admin' }).create(id, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata,
    webhooks: [webhook],
  })
}

/** @returns a JSON Patch as webhooks answer with it */
export function patchOf(...operations: readonly object[]): object {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

function wireAnswer(status: number, text: string) {
  async function* body() {
    yield text
  }
  return { status, headers: { 'content-type': 'application/json' }, body: body() }
}
