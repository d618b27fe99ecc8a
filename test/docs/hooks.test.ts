import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { readHook } from '../../apps/api/src/hooks/hook.ts'
import { isSignedWith, parseSignature } from '../../apps/api/src/hooks/signature.ts'
import { hookBodySchema } from '../../packages/words/api-schema/src/index.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const page = readFileSync('docs/operations/hooks.md', 'utf8')
const [, manifest = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(page) ?? []
const [, script = ''] = /^```sh\n([\s\S]*?)^```/m.exec(page) ?? []

it('a request signed by the openssl example of docs/operations/hooks.md is accepted by its example hook', async () => {
  const { stringData, ...secret } = parse(manifest) as { stringData: { key: string } }
  const hook = readHook({ ...secret, data: { key: Buffer.from(stringData.key).toString('base64') } } as never)
  if (typeof hook === 'string') throw new Error(hook)
  expect(hook).toMatchObject({ name: 'ci', target: { kind: 'Rollout', name: 'node-agent' } })

  const got = Promise.withResolvers<{ readonly url: string; readonly signature: unknown; readonly body: Buffer }>()
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      got.resolve({ url: request.url ?? '', signature: request.headers['x-tranche-signature'], body })
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = { ...process.env, API: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, KEY: stringData.key }
  await promisify(execFile)('bash', ['-euc', script], { env })
  server.close()

  const { url, signature, body } = await got.promise
  expect(url).toBe('/api/v1/namespaces/demo/hooks/ci?wait=30')
  const parsed = parseSignature(signature)
  if (parsed === null) throw new Error('it has no signature')
  expect(isSignedWith(hook.key, body, parsed)).toBe(true)
  expect(hook.actions).toContain(hookBodySchema.parse(JSON.parse(body.toString())).action)
})
