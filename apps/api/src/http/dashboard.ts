import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import { AppError } from '@tranche/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../auth/access.ts'
import type { ApiServer } from './create-server.ts'

/** Path below which the dashboard is served. */
export const DASHBOARD_PATH = '/dashboard'

/** Access rule of the dashboard's files. */
export const dashboardAccess: Access = {
  kind: 'public',
  why: 'its files are published and the same for every cluster; the requests of the page need a token or a session',
}

/** Content security policy of the dashboard: only files and data of this server, no inline code, no frames around it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Serves the dashboard below {@link DASHBOARD_PATH}, and redirects `/` to it. Files in `assets/` have a hash of their content in their
 * names, so clients cache them for good. Every other path is a route of the page and answers `index.html`.
 *
 * @param folder folder of the built page; undefined: each path answers a problem that says how to build it
 */
export async function serveDashboard(app: ApiServer, folder: string | undefined): Promise<void> {
  const options = { config: { access: dashboardAccess }, schema: { hide: true } }
  app.get('/', options, async (_request, reply) => (reply as FastifyReply).redirect(`${DASHBOARD_PATH}/`, 302))
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => void reply.header('content-security-policy', PAGE_POLICY))
    if (folder !== undefined)
      await page.register(fastifyStatic, {
        root: join(folder, 'assets'),
        prefix: `${DASHBOARD_PATH}/assets/`,
        decorateReply: false,
        index: false,
        immutable: true,
        maxAge: '365d',
        preCompressed: true,
      })
    page.get(DASHBOARD_PATH, options, async (request, reply) => {
      const [path = '', query] = request.url.split('?', 2)
      if (path !== DASHBOARD_PATH) return sendIndex(folder, request, reply)
      return reply.redirect(`${DASHBOARD_PATH}/${query === undefined ? '' : `?${query}`}`, 302)
    })
    page.get(`${DASHBOARD_PATH}/*`, options, async (request, reply) => sendIndex(folder, request, reply))
  })
}

/** Reads the file each time: a new build replaces it together with the assets that it names. */
async function sendIndex(folder: string | undefined, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const text = folder === undefined ? undefined : await readFile(join(folder, 'index.html')).catch(() => undefined)
  if (text === undefined) throw notBuilt()
  // Packages and images give every file the same time, so only the content tells two versions apart.
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  void reply.header('cache-control', 'no-cache').header('etag', etag)
  if (matches(request.headers['if-none-match'], etag)) return reply.status(304).send()
  return reply.type('text/html; charset=utf-8').send(text)
}

/** @see RFC 9110, section 13.1.2 */
function matches(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}

function notBuilt(): AppError {
  return new AppError('NOT_FOUND', 'the dashboard is not built', {
    hint: 'Run npx -y pnpm@12.21.0 --filter @tranche/dashboard build in the checkout, and start the API again.',
  })
}
