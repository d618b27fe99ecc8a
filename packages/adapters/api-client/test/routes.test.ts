import { readFileSync } from 'node:fs'
import { type ApiClient, createApiClient } from '@tranche/api-client'
import { actionTypes } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { expect, it } from 'vitest'
import { cannedServer } from './canned-server.ts'

const key = { namespace: '{namespace}', name: '{name}' }
const signal = new AbortController().signal

/** Calls of every method; no answer has the right form, which this test ignores. */
const calls: { readonly [Method in keyof ApiClient]: (client: ApiClient) => readonly unknown[] } = {
  rollouts: (client) => [client.rollouts(), client.rollouts({ namespace: '{namespace}' })],
  allRollouts: (client) => [client.allRollouts()],
  rollout: (client) => [client.rollout(key)],
  nodes: (client) => [client.nodes(key)],
  allNodes: (client) => [client.allNodes(key)],
  explainNode: (client) => [client.explainNode(key, '{node}')],
  nodeEvents: (client) => [client.nodeEvents(key, '{node}')],
  explain: (client) => [client.explain(key)],
  batches: (client) => [client.batches(key)],
  revisions: (client) => [client.revisions(key)],
  revision: (client) => [client.revision(key, '{revision}')],
  history: (client) => [client.history(key)],
  events: (client) => [client.events(key)],
  policy: (client) => [client.policy(key)],
  permissions: (client) => [client.permissions(key)],
  act: (client) => actionTypes.map((type) => client.act(key, type, {})),
  plan: (client) => [client.plan(key, {})],
  daemonSetHistory: (client) => [client.daemonSetHistory(key)],
  rollBackDaemonSet: (client) => [client.rollBackDaemonSet(key, {})],
  loginMethods: (client) => [client.loginMethods()],
  me: (client) => [client.me()],
  doctor: (client) => [client.doctor()],
  validate: (client) => [client.validate('')],
  stream: (client) => [client.stream({ signal }).next()],
}

/** Routes without a client method: browsers log in, and senders sign hooks. */
const notOurs = /\/(hooks|login|logout)(\/|$)/

it('has a method for every route of the description', async () => {
  const { paths } = JSON.parse(readFileSync('apps/api/openapi.json', 'utf8')) as { readonly paths: Readonly<Record<string, object>> }
  const routes = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  const wanted = routes.filter((route) => route.includes(' /api/v1/') && !notOurs.test(route))

  const server = cannedServer({ status: 400, body: {} })
  const client = createApiClient({ fetch: server.fetch, baseUrl: '', clock: systemClock })
  await Promise.allSettled(Object.values(calls).flatMap((call) => call(client)))
  const asked = server.arrived.map(({ method, url }) => `${method} ${decodeURIComponent(url.split('?')[0] ?? '')}`)
  expect(wanted.filter((route) => !asked.includes(route))).toEqual([])
  expect(asked.filter((route) => !wanted.includes(route) && !route.endsWith('/plan'))).toEqual([])
})
