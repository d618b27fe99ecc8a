import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { problemSchema } from '@tranche/api-schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiStage, readsOf, startTestApi } from './fixtures.ts'

const INDEX = '<!doctype html><script type="module" src="/dashboard/assets/index-Ab12.js"></script>'
const CODE = `export const answer = ${'4'.repeat(2_000)}`
const SECRET = 'outside of the page'

let folder: string
let stage: ApiStage

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  mkdirSync(join(folder, 'dist/assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  writeFileSync(join(folder, 'dist/secret.txt'), SECRET)
  writeFileSync(join(folder, 'dist/index.html'), INDEX)
  const files = {
    'index-Ab12.js': CODE,
    'index-Cd34.css': 'body { margin: 0 }',
    'icon-Ef56.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'dist/assets', name), text)
  writeFileSync(join(folder, 'dist/assets/index-Ab12.js.br'), brotliCompressSync(CODE))
  writeFileSync(join(folder, 'dist/assets/index-Ab12.js.gz'), gzipSync(CODE))
  stage = await startTestApi(readsOf([]), { parts: { dashboard: join(folder, 'dist') } })
})
afterAll(async () => {
  await stage.end()
  rmSync(folder, { recursive: true })
})

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly rawPayload: Buffer
  readonly json: () => unknown
}

function get(url: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET'): Promise<Answer> {
  return stage.app.inject({ method, url, headers })
}

describe('the page', () => {
  it.each(['/dashboard/', '/dashboard/rollouts/demo/agent', '/dashboard/rollouts/demo/agent/nodes/node-1?at=2', '/dashboard/sign-in'])(
    'is served at %s without a token, and is never cached unasked',
    async (url) => {
      const { statusCode, headers, body } = await get(url)
      expect([statusCode, body]).toEqual([200, INDEX])
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    },
  )

  it.each([
    ['/', '/dashboard/'],
    ['/dashboard', '/dashboard/'],
    ['/dashboard?need=true', '/dashboard/?need=true'],
  ])('is the target of %s', async (url, location) => {
    const { statusCode, headers } = await get(url)
    expect([statusCode, headers['location']]).toEqual([302, location])
  })

  it('is not sent again to a client that has it', async () => {
    const { etag } = (await get('/dashboard/')).headers as { readonly etag: string }
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { statusCode, headers, body } = await get('/dashboard/record', { 'if-none-match': known })
      expect([known, statusCode, body, headers['etag']]).toEqual([known, 304, '', etag])
    }
    expect((await get('/dashboard/', { 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  it('is sent again after a new build of the same size and time', async () => {
    const path = join(folder, 'dist/index.html')
    const at = new Date('1985-10-26T08:15:00Z')
    utimesSync(path, at, at)
    const { etag } = (await get('/dashboard/')).headers as { readonly etag: string }
    writeFileSync(path, INDEX.replace('Ab12', 'Zz99'))
    utimesSync(path, at, at)
    expect((await get('/dashboard/', { 'if-none-match': etag })).statusCode).toBe(200)
    writeFileSync(path, INDEX)
  })

  it('answers HEAD with the same headers and no body', async () => {
    const [whole, head] = [await get('/dashboard/'), await get('/dashboard/', {}, 'HEAD')]
    expect([head.statusCode, head.body]).toEqual([200, ''])
    for (const name of ['content-type', 'content-length', 'cache-control', 'etag', 'content-security-policy'])
      expect([name, head.headers[name]]).toEqual([name, whole.headers[name]])
  })

  it('refuses a write', async () => {
    const answer = await get('/dashboard/plan', {}, 'POST')
    expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'GET, HEAD'])
  })
})

describe('every file of the page', () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

  it.each(['/dashboard/', '/dashboard/assets/index-Ab12.js', '/dashboard/assets/gone.js'])(
    'comes with the strict policy, unframed and unsniffed: %s',
    async (url) => {
      const { headers } = await get(url)
      expect(headers).toMatchObject({
        'content-security-policy': policy,
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    },
  )

  it('does not change the policies of other pages', async () => {
    expect((await get('/docs')).headers['content-security-policy']).toContain('unsafe-inline')
    expect((await get('/healthz')).headers['content-security-policy']).toContain("frame-ancestors 'none'")
  })
})

describe('an asset', () => {
  it.each([
    ['index-Ab12.js', 'application/javascript; charset=utf-8'],
    ['index-Cd34.css', 'text/css; charset=utf-8'],
    ['icon-Ef56.svg', 'image/svg+xml'],
  ])('%s is cached for good, as %s', async (name, type) => {
    const { statusCode, headers } = await get(`/dashboard/assets/${name}`)
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' })
  })

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is sent compressed to a client that accepts %s', async (encoding, decompress) => {
    const { headers, rawPayload } = await get('/dashboard/assets/index-Ab12.js', { 'accept-encoding': encoding })
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
    expect(rawPayload.byteLength).toBeLessThan(200)
    expect(decompress(rawPayload).toString()).toBe(CODE)
  })

  it('is sent as it is to any other client, and where there is no compressed file', async () => {
    const plain = await get('/dashboard/assets/index-Ab12.js')
    expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, CODE])
    const css = await get('/dashboard/assets/index-Cd34.css', { 'accept-encoding': 'br, gzip' })
    expect([css.headers['content-encoding'], css.body]).toEqual([undefined, 'body { margin: 0 }'])
  })

  it('answers HEAD, and If-None-Match', async () => {
    const head = await get('/dashboard/assets/index-Ab12.js', {}, 'HEAD')
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, String(CODE.length), ''])
    const again = await get('/dashboard/assets/index-Ab12.js', { 'if-none-match': String(head.headers['etag']) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it.each(['index-Old0.js', 'index-Ab12.js.map', 'deep/index-Ab12.js', 'INDEX-Ab12.js'])(
    'that does not exist is a problem, not the page, and not cached: %s',
    async (name) => {
      const answer = await get(`/dashboard/assets/${name}`)
      expect(answer.statusCode).toBe(404)
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(problemSchema.parse(answer.json())).toMatchObject({ code: 'NOT_FOUND', status: 404 })
    },
  )
})

describe('a path that leaves the folder', () => {
  const steps = ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '..%5c', '..\\', '....//', '..%00/', '.%2e/', '..;/', '%252e%252e%252f']
  const paths = steps.flatMap((step) =>
    ['secret.txt', 'dist/secret.txt', `${step}secret.txt`, `${step}etc/passwd`].flatMap((rest) =>
      ['assets/', 'assets/x/', '', 'rollouts/'].map((below) => `/dashboard/${below}${step}${rest}`),
    ),
  )

  it('is never served, in any encoding', async () => {
    // A client would normalize the path before it sends it, so the bytes go straight to the socket.
    await stage.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = stage.app.server.address() as AddressInfo
    const answers = await Promise.all(
      [...paths, '/dashboard/assets//etc/passwd', '/dashboard/assets/%2fetc%2fpasswd'].map((path) => sendRaw(port, path)),
    )
    expect(answers.filter((answer) => answer.includes(SECRET) || answer.includes('root:'))).toEqual([])
    const below = answers.filter((_answer, index) => paths[index]?.startsWith('/dashboard/assets/'))
    expect([...new Set(below.map((answer) => answer.slice(9, 12)))].filter((status) => status.startsWith('2'))).toEqual([])
  })

  async function sendRaw(port: number, path: string): Promise<string> {
    const socket = createConnection({ host: '127.0.0.1', port })
    socket.end(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
    return readText(socket)
  }
})

describe('an API without a built page', () => {
  let bare: ApiStage

  beforeAll(async () => {
    bare = await startTestApi(readsOf([]))
  })
  afterAll(() => bare.end())

  it.each(['/dashboard/', '/dashboard/rollouts/demo/agent', '/dashboard/assets/index-Ab12.js'])(
    'says at %s how to build it',
    async (url) => {
      const answer = await bare.app.inject({ method: 'GET', url })
      expect(answer.statusCode).toBe(404)
      expect(problemSchema.parse(answer.json())).toMatchObject({
        code: 'NOT_FOUND',
        detail:
          'the dashboard is not built. Run npx -y pnpm@12.21.0 --filter @tranche/dashboard build in the checkout, and start the API again.',
      })
    },
  )
})
