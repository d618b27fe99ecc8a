import { createFaultsApp, listenForFaults } from '@tranche/sim'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from './cluster.ts'

let cluster: Cluster
let app: FastifyInstance
beforeEach(async () => {
  cluster = await startCluster()
  app = await createFaultsApp(cluster.schedule, 'right')
})
afterEach(() => app.close())

const url = '/sim/v1/faults'
const authorization = 'Bearer right'
const json = { authorization, 'content-type': 'application/json' }
const one = JSON.stringify({ faults: [{ kind: 'NodeDown', nodes: ['node-001'] }] })

it('accepts faults as JSON and as YAML, lists them, and lifts one or all', async () => {
  const posted = await app.inject({ method: 'POST', url, headers: json, body: one })
  const added = { id: 'fault-1', state: 'active', hits: 0, fault: { kind: 'NodeDown', nodes: ['node-001'] } }
  expect([posted.statusCode, posted.json()]).toEqual([201, { faults: [added] }])
  const yaml = { authorization, 'content-type': 'application/yaml; charset=utf-8' }
  const body = 'faults:\n  - {name: slow, kind: WatchDelay, by: 5s, actors: [tranche-executor]}\n'
  expect((await app.inject({ method: 'POST', url, headers: yaml, body })).statusCode).toBe(201)
  const listed = await app.inject({ method: 'GET', url, headers: { authorization } })
  expect(listed.json()).toMatchObject({
    faults: [
      { id: 'fault-1', state: 'active' },
      { id: 'slow', state: 'active' },
    ],
  })

  const lifted = await app.inject({ method: 'DELETE', url: `${url}/slow`, headers: { authorization } })
  expect([lifted.statusCode, lifted.json()]).toMatchObject([200, { id: 'slow', state: 'lifted' }])
  const rest = await app.inject({ method: 'DELETE', url, headers: { authorization } })
  expect([rest.statusCode, rest.json()]).toMatchObject([200, { faults: [{ id: 'fault-1', state: 'lifted' }] }])
})

describe('without the right token', () => {
  const headers: readonly (readonly [string, Record<string, string>])[] = [
    ['no header', {}],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another token', { authorization: 'Bearer wrong' }],
    ['the token of the API server', { authorization: `Bearer admin-1` }],
    ['the beginning of the token', { authorization: 'Bearer righ' }],
    ['another scheme', { authorization: `Basic ${Buffer.from('x:right').toString('base64')}` }],
  ]
  const requests = [
    ['GET', url],
    ['POST', url],
    ['DELETE', url],
    ['DELETE', `${url}/fault-1`],
    ['GET', '/elsewhere'],
  ] as const

  it.each(headers)('nothing is disclosed or done: %s', async (_what, given) => {
    for (const [method, path] of requests) {
      const answer = await app.inject({
        method,
        url: path,
        headers: { ...given, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: one }),
      })
      expect([answer.statusCode, answer.headers['www-authenticate'], answer.json()]).toMatchObject([
        401,
        'Bearer',
        { code: 'TOKEN_INVALID', status: 401 },
      ])
    }
    expect(cluster.schedule.list()).toEqual([])
  })
})

describe('a refused request', () => {
  const cases: Record<
    string,
    { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path?: string; type?: string; body?: string; status: number; answer: object }
  > = {
    'invalid faults': {
      method: 'POST',
      body: '{"faults":[{"kind":"NodeDown","nodes":["node-009"]}]}',
      status: 422,
      answer: {
        code: 'FAULTS_INVALID',
        errors: [{ path: 'faults[0].nodes[0]', value: '"node-009"', fix: 'give a node that exists by then: node-001, node-002, node-003' }],
      },
    },
    'a body that is neither JSON nor YAML': { method: 'POST', body: '{', status: 422, answer: { code: 'FAULTS_INVALID' } },
    'an empty body': { method: 'POST', body: '', status: 422, answer: { code: 'FAULTS_INVALID' } },
    'another content type': { method: 'POST', type: 'text/plain', body: one, status: 415, answer: { code: 'REQUEST_INVALID' } },
    'a body that is too large': {
      method: 'POST',
      body: ' '.repeat(300_000),
      status: 413,
      answer: { code: 'REQUEST_INVALID', title: 'the body is larger than 262144 bytes' },
    },
    'another path': {
      method: 'GET',
      path: '/sim/v1/fault',
      status: 404,
      answer: { title: '/sim/v1/fault does not exist; faults are at /sim/v1/faults' },
    },
    'another method': {
      method: 'PUT',
      body: one,
      status: 405,
      answer: { title: '/sim/v1/faults does not take PUT; it takes GET, POST, DELETE' },
    },
    'an unknown fault': {
      method: 'DELETE',
      path: `${url}/unknown`,
      status: 404,
      answer: { title: 'no fault unknown is waiting or active' },
    },
  }

  it.each(Object.entries(cases))('%s', async (_what, { method, path = url, type = 'application/json', body, status, answer }) => {
    const headers = { authorization, ...(body !== undefined && { 'content-type': type }) }
    const response = await app.inject({ method, url: path, headers, ...(body !== undefined && { body }) })
    expect([response.statusCode, response.headers['content-type']]).toEqual([status, 'application/problem+json; charset=utf-8'])
    expect(response.json()).toMatchObject({ status, ...answer })
    expect(cluster.schedule.list()).toEqual([])
  })
})

it('listens only on the loopback address, and reports that a port is in use', async () => {
  const server = await listenForFaults({ schedule: cluster.schedule, token: 'right', port: 0 })
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sim\/v1\/faults$/)
  const answer = await fetch(server.url, { headers: { authorization } })
  expect([answer.status, await answer.json()]).toEqual([200, { faults: [] }])
  const port = Number(new URL(server.url).port)
  await expect(listenForFaults({ schedule: cluster.schedule, token: 'right', port })).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  await server.close()
})
