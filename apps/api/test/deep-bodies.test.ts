import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { refuseDeepBodies } from '../src/http/refuse-deep-bodies.ts'

it.each([
  [50, 200],
  [100, 200],
  [101, 400],
  [10_000, 400],
])('a body nested %i levels deep is answered with %i', async (levels, status) => {
  const app = Fastify()
  refuseDeepBodies(app)
  app.setErrorHandler((error, _request, reply) => reply.code(400).send({ error }))
  app.post('/', (_request, reply) => reply.send({}))
  const payload = `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  const answer = await app.inject({ method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload })
  expect(answer.statusCode).toBe(status)
  if (status === 400) expect(answer.json()).toMatchObject({ error: { code: 'REQUEST_INVALID' } })
})
