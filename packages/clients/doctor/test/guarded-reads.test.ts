import { KubeStatusError, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { type AccessRight, rightText } from '../src/signs/access-right.ts'
import { type Behalf, guardReads, type GuardedReads, isDenied, ReadDenied, unlessDenied } from '../src/signs/guarded-reads.ts'

const { signal } = new AbortController()
const policies = { group: 'admissionregistration.k8s.io', version: 'v1', plural: 'mutatingadmissionpolicies', namespaced: false }

describe('a guarded read', () => {
  it.each<[string, (reads: GuardedReads) => Promise<unknown>]>([
    ['get leases.coordination.k8s.io tranche-controller in kube-system', (reads) => reads.get(resourcePaths.leases, lease)],
    ['list pods in all namespaces', (reads) => reads.list(resourcePaths.pods)],
    ['list pods in demo', (reads) => reads.list(resourcePaths.pods, { namespace: 'demo', labelSelector: 'a=b' })],
    [
      'list leases.coordination.k8s.io one in all namespaces',
      (reads) => reads.list(resourcePaths.leases, { fieldSelector: 'metadata.name=one' }),
    ],
    ['list pods in all namespaces', (reads) => reads.list(resourcePaths.pods, { fieldSelector: 'metadata.name=one,spec.nodeName=a' })],
    ['list mutatingadmissionpolicies.admissionregistration.k8s.io', (reads) => reads.list(policies, { namespace: 'demo' })],
    ['get /version', (reads) => reads.text('/version')],
    [
      'create subjectaccessreviews.authorization.k8s.io',
      (reads) => reads.mayAccount({ namespace: 'tranche', name: 'api' }, { verb: 'list', group: '', resource: 'pods' }),
    ],
  ])('on behalf of a user needs the right of the user: %s', async (right, read) => {
    const asked: AccessRight[] = []
    const { client, calls } = recordingClient()
    await expect(read(guardReads(client, behalfOf(false, asked), signal))).rejects.toMatchObject({
      who: 'you',
      message: `you may not ${right}`,
    })
    expect(calls).toEqual([])
    await read(guardReads(client, behalfOf(true, asked), signal))
    expect(calls).toHaveLength(1)
    expect(asked.map(rightText)).toEqual([right, right])
  })

  it('is denied to the account if the API server refuses it, else to the user', async () => {
    const refusing = recordingClient(() => Promise.reject(new KubeStatusError({ attempt: 'GET', status: 403 }))).client
    await expect(unlessDenied(guardReads(refusing, behalfOf(true), signal).list(resourcePaths.pods))).resolves.toMatchObject({
      who: 'the account',
    })
    await expect(unlessDenied(guardReads(refusing, null, signal).list(resourcePaths.pods))).resolves.toMatchObject({ who: 'you' })
  })

  it('fails with every other error', async () => {
    const failing = recordingClient(() => Promise.reject(new KubeStatusError({ attempt: 'GET', status: 404 }))).client
    await expect(unlessDenied(guardReads(failing, null, signal).text('/apis'))).rejects.toMatchObject({ status: 404 })
    const unknown = { mayUser: () => Promise.reject(new Error('no answer')), account: 'the account' }
    await expect(unlessDenied(guardReads(recordingClient().client, unknown, signal).text('/apis'))).rejects.toThrow('no answer')
  })

  it('is not made after the abort, also if it waited', async () => {
    const ending = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const { client, calls } = recordingClient(() => late)
    const reads = guardReads(client, null, ending.signal)
    const all = Promise.allSettled(Array.from({ length: 20 }, () => reads.text('/version')))
    await expect.poll(() => calls.length).toBe(8)
    ending.abort(new Error('over'))
    reject(ending.signal.reason)
    expect((await all).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'rejected'))
    expect(calls).toHaveLength(8)
  })
})

describe('the rights of the user', () => {
  const right = { verb: 'patch', group: 'apps', resource: 'daemonsets', namespace: 'demo' }

  it('are those of the client without a user on whose behalf it reads', async () => {
    const { client, calls } = recordingClient(async () => ({ status: { allowed: true } }))
    await expect(guardReads(client, null, signal).mayUser(right)).resolves.toBe(true)
    expect(calls).toEqual([['create', expect.objectContaining({ kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: right } })]])
  })

  it('are never those of the account that reads on behalf of the user', async () => {
    const { client, calls } = recordingClient(async () => ({ status: { allowed: true } }))
    await expect(guardReads(client, behalfOf(false), signal).mayUser(right)).resolves.toBe(false)
    expect(calls).toEqual([])
  })
})

it('a right that is missing is distinguished from every other sign', () => {
  expect([null, [], 'text', { webhook: true }].map(isDenied)).toEqual([false, false, false, false])
  expect(isDenied(new ReadDenied({ who: 'you', denied: { verb: 'get', path: '/version' } }))).toBe(true)
})

const lease = { namespace: 'kube-system', name: 'tranche-controller' }

function behalfOf(mayAll: boolean, asked: AccessRight[] = []): Behalf {
  return {
    account: 'the account',
    mayUser: async (right) => {
      asked.push(right)
      return mayAll
    },
  }
}

/** A client that records its calls with their last argument but the options. */
function recordingClient(answer: () => Promise<unknown> = async () => ({ items: [] })) {
  const calls: unknown[] = []
  const call =
    (method: string) =>
    (...args: readonly unknown[]): Promise<unknown> => {
      calls.push([method, args[1]])
      return answer()
    }
  const client = { get: call('get'), list: call('list'), create: call('create'), text: call('text') }
  return { client: client as unknown as KubeClient, calls }
}
