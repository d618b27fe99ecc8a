import { admissionPolicies } from '@tranche/admission'
import { type CustomResourceDefinition, customResourceDefinitions } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations, RECORDED_ACTIONS_ANNOTATION, OBSERVED_CHANGES_ANNOTATION } from '@tranche/kube-types'
import { bodyText, type Exchange, type WireRequest, type WireResponse } from '@tranche/wire'

/** A version of Tranche: the present one, or a future one with an additional field wherever it writes. */
export type Version = 'present' | 'next'

/** Field that only the next version has; its value is a string. */
export const NEXT_MEMBER = 'tomorrow'
/**
 * Additional field in each recorded action and each observed change. An existing field is kept as it is, because every version reads it.
 */
export const NEXT_IN_ACTIONS = 'dayAfter'

/**
 * Applies the definitions of this version, as its chart does before its programs start. The definitions of the other version must exist.
 */
export async function bringDefinitions(client: KubeClient, version: Version): Promise<void> {
  for (const { metadata, spec } of customResourceDefinitions as readonly CustomResourceDefinition[]) {
    const root = '/spec/versions/0/schema/openAPIV3Schema/properties'
    const paths = (places[spec.names.plural] ?? []).map((place) => `${root}/${place}/properties/${NEXT_MEMBER}`)
    const body = paths.map((path) =>
      version === 'next' ? ({ op: 'add', path, value: { type: 'string' } } as const) : ({ op: 'remove', path } as const),
    )
    if (body.length === 0) continue
    await client.patch(resourcePaths.customResourceDefinitions, { namespace: '', name: metadata.name }, { type: 'json', body })
  }
}

/** Paths at which definitions of the next version have the additional field, by plural. Each definition has one version. */
const places: Readonly<Record<string, readonly string[]>> = {
  releasepolicies: ['status'],
  rollouts: ['status', 'status/properties/canaryStatus'],
  batchreleases: [
    'spec/properties/tranche',
    'status',
    'status/properties/canaryStatus',
    'status/properties/flight',
    'status/properties/flight/properties/permits/items',
  ],
}

/**
 * Makes a program behave like one of the next version, whose definitions must exist. It writes the additional field in statuses, in the
 * permit record and its permits, in the spec of a BatchRelease, and in annotations with JSON. The field is removed from everything that it
 * reads, so its own writes do not look foreign to it.
 *
 * @param identity value of the field
 */
export function asNextVersion(exchange: Exchange, identity: string): Exchange {
  return async (request, signal) => {
    const response = await exchange(withMember(request, identity), signal)
    return { ...response, body: withoutMember(response.body) }
  }
}

type Members = Readonly<Record<string, unknown>>

function withMember(request: WireRequest, by: string): WireRequest {
  const { method, body, path } = request
  if (body === undefined) return request
  const changed = (change: (value: unknown) => unknown): WireRequest => ({ ...request, body: JSON.stringify(change(JSON.parse(body))) })
  if (method === 'PUT' && /\/rollouts\/[^/?]+\/status/.test(path)) return changed((rollout) => inStatus(rollout as Members, by))
  if (method === 'POST' && /\/batchreleases(\?|$)/.test(path)) return changed((release) => inSpec(release as Members, by))
  if (method !== 'PATCH' || !/json-patch/.test(request.headers['content-type'] ?? '')) return request
  if (/\/releasepolicies\/[^/?]+\/status/.test(path)) return changed((patch) => inStatusPatch(patch as readonly Operation[], by))
  if (/\/batchreleases\//.test(path)) return changed((patch) => inReleasePatch(patch as readonly Operation[], by))
  if (!/\/(daemonsets|rollouts)\//.test(path)) return request
  return changed((patch) => inAnnotations((patch as readonly Operation[]).flatMap(inStatusTest), by))
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

const added = (members: unknown, by: string): Members => ({ ...(members as Members), [NEXT_MEMBER]: by })

function inStatus(object: Members, by: string): Members {
  const status = object['status'] as Members
  const { canaryStatus } = status
  return { ...object, status: added({ ...status, ...(canaryStatus !== undefined && { canaryStatus: added(canaryStatus, by) }) }, by) }
}

function inSpec(release: Members, by: string): Members {
  const spec = release['spec'] as Members
  return { ...release, spec: { ...spec, tranche: added(spec['tranche'], by) } }
}

function inReleasePatch(patch: readonly Operation[], by: string): readonly Operation[] {
  const changed = patch.map((operation): Operation => {
    const { op, path, value } = operation
    if (op !== 'add' && op !== 'replace') return operation
    if (path === '/spec') return { ...operation, value: inSpec({ spec: value }, by)['spec'] }
    if (path === '/status/canaryStatus') return { ...operation, value: added(value, by) }
    return path === '/status/flight' ? { ...operation, value: inRecord(value as Members, by) } : operation
  })
  return inStatusPatch(changed, by)
}

function inStatusPatch(patch: readonly Operation[], by: string): readonly Operation[] {
  const isStatus = patch.some(({ op, path }) => op !== 'test' && path.startsWith('/status'))
  return isStatus ? [...patch, { op: 'add', path: `/status/${NEXT_MEMBER}`, value: by }] : patch
}

/** Compares a status field by field, because the program read it without the additional field. */
function inStatusTest(operation: Operation): readonly Operation[] {
  const { op, path, value } = operation
  if (op !== 'test' || !/^\/status(\/canaryStatus)?$/.test(path) || value === null) return [operation]
  return Object.entries(value as Members).flatMap(([name, member]) => inStatusTest({ op, path: `${path}/${name}`, value: member }))
}

function inRecord(record: Members, by: string): Members {
  const permits = record['permits'] as readonly Members[]
  return added({ ...record, permits: permits.map((permit) => added(permit, by)) }, by)
}

/** Annotations with JSON that Tranche never tests as text. */
const jsonAnnotations: readonly string[] = [
  daemonSetAnnotations.frozen,
  daemonSetAnnotations.unsettled,
  daemonSetAnnotations.inProgressing,
].map(pointerTo)
/** Annotations with a list of actions or observed changes. */
const actionAnnotations: readonly string[] = [RECORDED_ACTIONS_ANNOTATION, OBSERVED_CHANGES_ANNOTATION].map(pointerTo)

function pointerTo(annotation: string): string {
  return `/metadata/annotations/${annotation.replaceAll('/', '~1')}`
}

function inAnnotations(patch: readonly Operation[], by: string): readonly Operation[] {
  return patch.map((operation) => {
    const { op, path, value } = operation
    if (op === 'test' || typeof value !== 'string') return operation
    if (jsonAnnotations.includes(path)) return { ...operation, value: JSON.stringify(added(JSON.parse(value), by)) }
    return actionAnnotations.includes(path) ? { ...operation, value: inActions(value, by) } : operation
  })
}

function inActions(list: string, by: string): string {
  return JSON.stringify((JSON.parse(list) as readonly Members[]).map((action) => ({ [NEXT_IN_ACTIONS]: by, ...action })))
}

/** Adds the field to annotations with JSON in the webhook answer of a controller, as the next version does. */
export async function answerAsNextVersion(answer: WireResponse, by: string): Promise<WireResponse> {
  const review = JSON.parse(await bodyText(answer)) as { readonly response?: { readonly patch?: string } }
  const { patch } = review.response ?? {}
  const changed = (text: string): string => {
    const operations = JSON.parse(Buffer.from(text, 'base64').toString()) as readonly Operation[]
    return Buffer.from(JSON.stringify(inAnnotations(operations, by))).toString('base64')
  }
  const response = patch === undefined ? review.response : { ...review.response, patch: changed(patch) }
  return { ...answer, body: oneChunk(JSON.stringify({ ...review, response })) }
}

async function* oneChunk(text: string): AsyncIterable<string> {
  yield text
}

type Policies = typeof admissionPolicies

/**
 * Policies of this version. Those of the next version write the additional field in annotations with JSON, and include one more policy,
 * which allows everything.
 */
export function policiesOf(version: Version): Policies {
  return version === 'next' ? nextPolicies : admissionPolicies
}

const nextPolicies: Policies = [
  ...admissionPolicies.map((policy) => ({ ...policy, spec: withMemberInJson(policy.spec) })),
  ...admissionPolicies.filter(({ metadata }) => metadata.name === 'rollout-advice').map(passing),
]

/** In CEL that builds JSON, before the closing brace. */
function withMemberInJson(spec: Policies[number]['spec']): Policies[number]['spec'] {
  const expressions = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.replaceAll(`+ '"}'`, `+ '","${NEXT_MEMBER}":"admission"}'`) : value
  return JSON.parse(JSON.stringify(spec), expressions) as Policies[number]['spec']
}

function passing({ spec, ...policy }: Policies[number]): Policies[number] {
  const name = 'rollout-of-tomorrow'
  const changed = 'policyName' in spec ? { policyName: name } : { validations: [{ expression: 'true', message: 'everything passes' }] }
  return { ...policy, metadata: { name }, spec: { ...spec, ...changed } }
}

/** The field with its comma, in JSON and in JSON within a JSON string. */
const inJson = new RegExp(`,"${NEXT_MEMBER}":"[^"]*"|"${NEXT_MEMBER}":"[^"]*",?`, 'g')
const inText = new RegExp(String.raw`,\\"${NEXT_MEMBER}\\":\\"[^"\\]*\\"|\\"${NEXT_MEMBER}\\":\\"[^"\\]*\\",?`, 'g')

async function* withoutMember(body: AsyncIterable<string>): AsyncIterable<string> {
  for await (const chunk of body) yield chunk.includes(NEXT_MEMBER) ? chunk.replaceAll(inJson, '').replaceAll(inText, '') : chunk
}
