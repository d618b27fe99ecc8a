import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError, type ErrorCode, errorCatalog } from '@tranche/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DOCUMENT_MAX_BYTES, type FaultFinding, parseFaults } from './parse-faults.ts'
import type { FaultSchedule } from './fault-schedule.ts'

/** Options of the server. */
export interface FaultsServerOptions {
  readonly schedule: FaultSchedule
  /** Bearer token that every request must carry; differs from those of the API server. */
  readonly token: string
  /** Port on 127.0.0.1; 0 selects any free port. */
  readonly port: number
}

/** Server that accepts faults. */
export interface FaultsServer {
  /** `http://127.0.0.1:7443/sim/v1/faults` */
  readonly url: string
  /** Closes the server and aborts requests in progress. */
  close(): Promise<void>
}

const PATH = '/sim/v1/faults'
/** Time limit for a request to arrive, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000

/**
 * Serves GET, POST and DELETE of `/sim/v1/faults` over plain HTTP on the loopback address.
 *
 * @throws {AppError} PORT_IN_USE; OPTION_INVALID when the system rejects the port
 */
export async function listenForFaults({ schedule, token, port }: FaultsServerOptions): Promise<FaultsServer> {
  const server = await createFaultsApp(schedule, token)
  try {
    const address = await server.listen({ host: '127.0.0.1', port })
    return { url: `${address}${PATH}`, close: () => server.close() }
  } catch (error) {
    throw cannotListen(port, error)
  }
}

/** @returns the server without a socket, so that tests can inject requests */
export async function createFaultsApp(schedule: FaultSchedule, token: string): Promise<FastifyInstance> {
  // Imported on demand, because loading takes a while.
  const { fastify } = await import('fastify')
  const app = fastify({ bodyLimit: DOCUMENT_MAX_BYTES, requestTimeout: REQUEST_TIMEOUT_MS, forceCloseConnections: true, logger: false })
  const isToken = tokenCheck(token)

  app.addHook('onRequest', async (request, reply) => {
    return isToken(request.headers.authorization) ? undefined : refuseToken(reply)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml'],
    { parseAs: 'string' },
    (_request, body, done) => done(null, body),
  )

  app.get(PATH, async () => ({ faults: schedule.list() }))
  app.post(PATH, async (request, reply) => {
    const parsed = parseFaults(typeof request.body === 'string' ? request.body : '')
    const answer = parsed.kind === 'invalid' ? parsed : await schedule.add(parsed.faults)
    if (answer.kind === 'invalid')
      return refuse(reply, 'FAULTS_INVALID', { title: 'the document is rejected; no fault is applied', findings: answer.findings })
    return reply.code(201).send({ faults: answer.faults })
  })
  app.delete(PATH, async () => ({ faults: await schedule.liftAll() }))
  app.delete<{ Params: { id: string } }>(`${PATH}/:id`, async (request, reply) => {
    const fault = await schedule.lift(request.params.id)
    return fault ?? refuse(reply, 'REQUEST_INVALID', { status: 404, title: `no fault ${request.params.id} is waiting or active` })
  })
  app.setNotFoundHandler((request, reply) => refuseRoute(request, reply))
  app.setErrorHandler((error, _request, reply) => refuseRequest(error, reply))
  return app
}

/** Compares digests in constant time. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const expected = digest(token)
  return (authorization) => timingSafeEqual(digest(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? ''), expected)
}

function refuseToken(reply: FastifyReply): FastifyReply {
  const title = 'the request needs the header Authorization: Bearer TOKEN, with the token for faults'
  return refuse(reply.header('www-authenticate', 'Bearer'), 'TOKEN_INVALID', { title })
}

/** Responds to an unsupported method on a known path, and to unknown paths. */
function refuseRoute({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ''] = url.split('?')
  const methods = path === PATH ? 'GET, POST, DELETE' : path.startsWith(`${PATH}/`) ? 'DELETE' : null
  if (methods === null) return refuse(reply, 'REQUEST_INVALID', { status: 404, title: `${path} does not exist; faults are at ${PATH}` })
  return refuse(reply.header('allow', methods), 'REQUEST_INVALID', {
    status: 405,
    title: `${path} does not take ${method}; it takes ${methods}`,
  })
}

/** A status below 500 is a rejection by the server library; any other error is internal, and its text is not sent. */
function refuseRequest(error: unknown, reply: FastifyReply): FastifyReply {
  const { statusCode = 500, message = '' } = error as { readonly statusCode?: number; readonly message?: string }
  if (statusCode >= 500) return refuse(reply, 'INVARIANT_BROKEN', { title: 'internal error' })
  const titles: Readonly<Record<number, string>> = {
    413: `the body is larger than ${DOCUMENT_MAX_BYTES} bytes`,
    415: 'the body must be application/json or application/yaml, and say so in its Content-Type',
  }
  return refuse(reply, 'REQUEST_INVALID', { status: statusCode, title: titles[statusCode] ?? message })
}

interface Refusal {
  readonly title: string
  /** @default that of the code */
  readonly status?: number
  readonly findings?: readonly FaultFinding[]
}

/** @see RFC 9457, problem details */
function refuse(reply: FastifyReply, code: ErrorCode, { title, status = errorCatalog[code].httpStatus, findings }: Refusal): FastifyReply {
  const problem = { code, title, status, ...(findings !== undefined && { errors: findings }) }
  return reply.code(status).type('application/problem+json').send(JSON.stringify(problem))
}

function cannotListen(port: number, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new AppError('PORT_IN_USE', `another program listens on 127.0.0.1:${port}`, {
      details: { port },
      hint: 'Choose another port with --faults-port, or stop that program.',
      cause: error,
    })
  if (code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error
  return new AppError('OPTION_INVALID', `cannot listen on 127.0.0.1:${port}: ${message}`, {
    details: { port },
    hint: 'Choose a port from 1024 to 65535, or 0 for a free one.',
    cause: error,
  })
}
