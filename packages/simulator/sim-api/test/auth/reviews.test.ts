import { describe, expect, it } from 'vitest'
import { jane, rule, setUp } from './testing.ts'

const AUTHZ = '/apis/authorization.k8s.io/v1'
const TOKENS = '/api/v1/namespaces/default/serviceaccounts/default/token'
const account = 'system:serviceaccount:default:default'
const listPods = { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'default' } }

describe('a review says', () => {
  it('that the user has a permission, and which binding grants it', async () => {
    const { send, grant } = setUp()
    await grant('some', [rule('pods', 'list')], [jane])
    const { status, json } = await send('jane', `POST ${AUTHZ}/selfsubjectaccessreviews`, { spec: listPods })
    expect([status, json['status']]).toEqual([
      201,
      { allowed: true, reason: 'RBAC: allowed by RoleBinding "some/default" of Role "some" to User "jane"' },
    ])
  })

  it('that another user lacks a permission', async () => {
    const { send } = setUp()
    const { json } = await send('root', `POST ${AUTHZ}/subjectaccessreviews`, { spec: { ...listPods, user: 'joe' } })
    expect(json['status']).toEqual({ allowed: false })
  })

  it('what a group can do in one namespace', async () => {
    const { send, grant } = setUp()
    await grant('some', [rule('pods', 'list')], [{ kind: 'Group', name: 'team' }])
    const spec = { ...listPods, groups: ['team'] }
    const { json } = await send('root', `POST ${AUTHZ}/namespaces/default/localsubjectaccessreviews`, { spec })
    expect(json['status']).toMatchObject({ allowed: true })
  })

  it('everything that the user can do in a namespace', async () => {
    const { send, grant } = setUp()
    await grant('some', [rule('pods', 'list', { resourceNames: ['a'] })], [jane])
    const { json } = await send('jane', `POST ${AUTHZ}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } })
    expect(json['status']).toMatchObject({
      resourceRules: expect.arrayContaining([{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }]),
      nonResourceRules: expect.arrayContaining([expect.objectContaining({ verbs: ['get'] })]),
      incomplete: false,
    })
  })

  it('nothing to a user who may not review other users', async () => {
    expect((await setUp().send('jane', `POST ${AUTHZ}/subjectaccessreviews`, { spec: { ...listPods, user: 'joe' } })).status).toBe(403)
  })
})

describe('a review is refused', () => {
  const cases: Record<string, { spec: object; says: string }> = {
    'about nothing': { spec: {}, says: 'exactly one of nonResourceAttributes or resourceAttributes must be specified' },
    'about two things': {
      spec: { ...listPods, nonResourceAttributes: { verb: 'get', path: '/' } },
      says: 'cannot be specified in combination with resourceAttributes',
    },
    'without a user or group': { spec: listPods, says: 'at least one of user or group must be specified' },
  }
  it.each(Object.entries(cases))('%s', async (_name, { spec, says }) => {
    const answer = await setUp().send('root', `POST ${AUTHZ}/subjectaccessreviews`, { spec })
    expect(answer).toMatchObject({ status: 422, json: { message: expect.stringContaining(says) } })
  })

  it('with another method', async () => {
    expect((await setUp().send('root', `GET ${AUTHZ}/subjectaccessreviews`)).status).toBe(405)
  })
})

describe('a token of a service account', () => {
  async function issued(spec: object = {}, options = setUp()) {
    const { status, json } = await options.send('root', `POST ${TOKENS}`, { spec })
    return { ...options, status, json, token: String((json['status'] as { token?: string } | undefined)?.token) }
  }
  const review = (token: string, audiences: readonly string[] = []) => ({ spec: { token, audiences } })
  const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

  it('is issued for an hour', async () => {
    const { status, json } = await issued()
    expect([status, json]).toMatchObject([
      201,
      { kind: 'TokenRequest', spec: { expirationSeconds: 3600 }, status: { expirationTimestamp: '2026-01-01T01:00:00Z' } },
    ])
  })

  it('authenticates as the account, with its permissions', async () => {
    const { token, send, grant } = await issued()
    expect((await send(token, 'GET /api/v1/namespaces/default/pods')).status).toBe(403)
    await grant('some', [rule('pods', 'list')], [{ kind: 'ServiceAccount', name: 'default' }])
    expect((await send(token, 'GET /api/v1/namespaces/default/pods')).status).toBe(200)
  })

  it('is recognized by a review, with its owner', async () => {
    const { token, send } = await issued()
    const { json } = await send('root', `POST ${REVIEWS}`, review(token))
    expect(json['status']).toMatchObject({
      authenticated: true,
      user: { username: account, groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'] },
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    })
  })

  it('expires at its time', async () => {
    const { token, send, clock } = await issued({ expirationSeconds: 600 })
    await clock.advanceAsync(599_000)
    expect((await send('root', `POST ${REVIEWS}`, review(token))).json['status']).toMatchObject({ authenticated: true })
    await clock.advanceAsync(2_000)
    expect((await send(token, 'GET /apis')).status).toBe(401)
  })

  it('becomes invalid with its account, even if one of the same name is created', async () => {
    const { token, send } = await issued()
    await send('root', 'DELETE /api/v1/namespaces/default/serviceaccounts/default')
    expect((await send('root', 'GET /api/v1/namespaces/default/serviceaccounts/default')).status).toBe(200)
    expect((await send(token, 'GET /apis')).status).toBe(401)
  })

  it('becomes invalid with the secret that it is bound to', async () => {
    const options = setUp()
    await options.send('root', 'POST /api/v1/namespaces/default/secrets', { metadata: { name: 's' } })
    const { token, send } = await issued({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }, options)
    expect((await send(token, 'GET /apis')).status).toBe(200)
    await send('root', 'DELETE /api/v1/namespaces/default/secrets/s')
    expect((await send(token, 'GET /apis')).status).toBe(401)
  })

  it('for another audience is not accepted by this server', async () => {
    const { token, send } = await issued({ audiences: ['vault'] })
    expect((await send(token, 'GET /apis')).status).toBe(401)
    expect((await send('root', `POST ${REVIEWS}`, review(token, ['vault', 'x']))).json['status']).toMatchObject({ audiences: ['vault'] })
  })

  it('is invalid after a modification', async () => {
    const { token, send } = await issued()
    const [head, , signature] = token.split('.')
    const claims = Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:kube-system:default', exp: 9e9 })).toString('base64url')
    expect((await send(`${head}.${claims}.${signature}`, 'GET /apis')).status).toBe(401)
  })

  it('is not issued for less than ten minutes, nor for a missing account', async () => {
    const { send, json } = await issued({ expirationSeconds: 60 })
    expect(json.message).toContain('spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes')
    const other = await send('root', 'POST /api/v1/namespaces/default/serviceaccounts/outsider/token', { spec: {} })
    expect(other).toMatchObject({ status: 404, json: { message: 'serviceaccounts "outsider" not found' } })
  })
})

it('every namespace gets a service account', async () => {
  const { send } = setUp()
  await send('root', 'POST /api/v1/namespaces', { metadata: { name: 'demo' } })
  expect((await send('root', 'GET /api/v1/namespaces/demo/serviceaccounts/default')).status).toBe(200)
})
