import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fileOf } from '../../scripts/image/files.ts'
import { layerOf } from '../../scripts/image/layer.ts'
import { writeLayout } from '../../scripts/image/oci-layout.ts'
import { PROVENANCE, SIGNATURE, signatureOf } from '../../scripts/release/provenance.ts'
import { indexOfLayout, keepAsLayout, layersOfLayout, pullImage, pushLayout, tagImage } from '../../scripts/release/push-layout.ts'
import { attachBundle, attachedBundles } from '../../scripts/release/referrers.ts'
import { type RegistryAccount, RegistryClient } from '../../scripts/release/registry-client.ts'
import { throwAwaySigning } from '../../scripts/release/signing.ts'
import { type FakeRegistry, type FakeRegistryOptions, startFakeRegistry } from './fake-registry.ts'

const account = { user: 'robot', token: 'secret' }

describe('a pushed image', () => {
  it('is found by digest, with every architecture, and by no tag', async () => {
    const { registry, client, layout } = await start()
    const { digest } = await pushLayout(layout, client)
    expect(await pullImage(client, digest)).toEqual(['linux/amd64', 'linux/arm64'])
    expect([...registry.manifests.keys()].filter((name) => !name.startsWith('sha256:'))).toEqual([])
  })

  it('is pushed after everything that it names', async () => {
    const { registry, client, layout } = await start()
    const { digest } = await pushLayout(layout, client)
    expect(registry.requests.at(-1)).toBe(`PUT manifests/${digest}`)
  })

  it('is not sent again if the registry has its blobs', async () => {
    const { registry, client, layout } = await start()
    await pushLayout(layout, client)
    const before = registry.requests.filter((request) => request.startsWith('POST')).length
    await pushLayout(layout, client)
    expect(registry.requests.filter((request) => request.startsWith('POST'))).toHaveLength(before)
  })

  it('is rejected when a blob comes back with another content', async () => {
    const { registry, client, layout } = await start()
    const { digest } = await pushLayout(layout, client)
    registry.blobs.set(layersOfLayout(layout, 'arm64')[0]!, Buffer.from('other'))
    await expect(pullImage(client, digest)).rejects.toThrow('has another content')
  })

  it('is kept as a layout that pushes the same digest', async () => {
    const { client, layout } = await start()
    await pushLayout(layout, client)
    const one = (JSON.parse((await client.manifest(indexOfLayout(layout).digest))!.bytes.toString()) as { manifests: { digest: string }[] })
      .manifests[0]!.digest
    const kept = join(temporary(), 'kept')
    await keepAsLayout(kept, client, one)
    const other = await start()
    expect((await pushLayout(kept, other.client)).digest).toBe(one)
  })
})

describe('tagImage', () => {
  it('gives the image its tag, and does nothing the second time', async () => {
    const { registry, client, layout } = await start()
    const { digest } = await pushLayout(layout, client)
    await tagImage(client, '1.2.3', digest)
    await tagImage(client, '1.2.3', digest)
    expect(registry.requests.filter((request) => request === 'PUT manifests/1.2.3')).toHaveLength(1)
    expect((await client.manifest('1.2.3'))?.digest).toBe(digest)
  })

  it('never moves the tag of a published version', async () => {
    const { client, layout } = await start()
    const { digest } = await pushLayout(layout, client)
    await tagImage(client, '1.2.3', digest)
    const other = await pushLayout(await layoutOf('other'), client)
    await expect(tagImage(client, '1.2.3', other.digest)).rejects.toThrow('a published version is never replaced')
    expect((await client.manifest('1.2.3'))?.digest).toBe(digest)
  })

  it('rejects a digest that was not pushed', async () => {
    const { client, layout } = await start()
    await expect(tagImage(client, '1.2.3', indexOfLayout(layout).digest)).rejects.toThrow('no image sha256:')
  })
})

describe.each([{ keepsReferrers: false }, { keepsReferrers: true }])('signatures in a registry with %j', (options) => {
  it('are found beside the image, each once', async () => {
    const { client, layout } = await start(options)
    const subject = await pushLayout(layout, client)
    const bundle = await throwAwaySigning().signStatement(signatureOf(subject.digest.slice(7)))
    const attached = [SIGNATURE, PROVENANCE, SIGNATURE].map((predicateType) => ({ predicateType, bundle }))
    const outcomes: boolean[] = []
    for (const one of attached) outcomes.push(await attachBundle(client, subject, one))
    expect(outcomes).toEqual([true, true, false])
    expect(await attachedBundles(client, subject.digest)).toEqual(attached.slice(0, 2))
  })

  it('of another image are not among them', async () => {
    const { client, layout } = await start(options)
    const subject = await pushLayout(layout, client)
    const other = await pushLayout(await layoutOf('other'), client)
    const bundle = await throwAwaySigning().signStatement(signatureOf(subject.digest.slice(7)))
    await attachBundle(client, other, { predicateType: SIGNATURE, bundle })
    expect(await attachedBundles(client, subject.digest)).toEqual([])
  })
})

describe('an account', () => {
  it('gets a token of the registry, and pushes with it', async () => {
    const { client, layout } = await start({ account }, account)
    expect(await pullImage(client, (await pushLayout(layout, client)).digest)).toHaveLength(2)
  })

  it('that is wrong is named by its variables', async () => {
    const { client, layout } = await start({ account }, { user: 'robot', token: 'wrong' })
    await expect(pushLayout(layout, client)).rejects.toThrow('answered 401; check REGISTRY_USER and REGISTRY_TOKEN')
  })
})

describe('credentials', () => {
  it('go to no other host to which a registry sends an upload', async () => {
    const { registry: storage } = await start()
    const { registry, client, layout } = await start({ account, uploads: `http://${storage.host}` }, account)
    await client.putBlob(layersOfLayout(layout, 'amd64')[0]!, Buffer.from('layer'))
    expect(storage.requests).toEqual(['PUT blobs/uploads/1'])
    expect(storage.authorized).toEqual([])
    expect(registry.authorized).toContain('POST blobs/uploads/')
  })

  it('go to no login that such a host names', async () => {
    const { registry: storage } = await start({ account })
    const { client, layout } = await start({ uploads: `http://${storage.host}` }, account)
    await expect(client.putBlob(layersOfLayout(layout, 'amd64')[0]!, Buffer.from('layer'))).rejects.toThrow('answered 401')
    expect(storage.authorized).toEqual([])
  })

  it('go to no login that is not encrypted', async () => {
    const challenge = new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer realm="http://login.example/token"' } })
    const asked = vi.spyOn(globalThis, 'fetch').mockResolvedValue(challenge)
    onTestFinished(() => asked.mockRestore())
    const client = new RegistryClient({ name: 'registry.example/team/part', account })
    await expect(client.manifest('1.2.3')).rejects.toThrow('the login at login.example is not encrypted')
    expect(asked).toHaveBeenCalledOnce()
  })
})

it('an unexpected answer names the request and the status', async () => {
  const { client } = await start()
  await expect(client.blob(`sha256:${'0'.repeat(64)}`)).rejects.toThrow(/GET \/v2\/team\/part\/blobs\/sha256:0+ answered 404/)
})

async function start(
  options: FakeRegistryOptions = {},
  user?: RegistryAccount,
): Promise<{ registry: FakeRegistry; client: RegistryClient; layout: string }> {
  const registry = await startFakeRegistry(options)
  onTestFinished(() => registry[Symbol.asyncDispose]())
  const client = new RegistryClient({ name: `${registry.host}/team/part`, plain: true, account: user })
  return { registry, client, layout: await layoutOf('image') }
}

/** @returns folder with an image of one small layer for each architecture */
async function layoutOf(text: string): Promise<string> {
  const folder = join(temporary(), 'layout')
  const created = new Date(0)
  const images = await Promise.all(
    (['amd64', 'arm64'] as const).map(async (architecture) => ({
      architecture,
      layers: [await layerOf([fileOf('file', `${text} ${architecture}`)], created)],
    })),
  )
  writeLayout(folder, images, { created, labels: {}, user: '1', entrypoint: [], command: [], name: 'x:1' })
  return folder
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-release-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
