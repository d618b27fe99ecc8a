import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileOf } from '../../scripts/image/files.ts'
import { layerOf } from '../../scripts/image/layer.ts'
import { writeLayout } from '../../scripts/image/oci-layout.ts'
import { pushLayout } from '../../scripts/release/push-layout.ts'
import { RegistryClient } from '../../scripts/release/registry-client.ts'
import type { PartClients } from '../../scripts/release/rehearse.ts'
import { pathsOf, type ReleaseJob } from '../../scripts/release/release-job.ts'
import { runCommand } from '../../scripts/release/run-command.ts'
import { signParts, verifyParts, writeChecksums } from '../../scripts/release/sign-parts.ts'
import { type Signing, throwAwaySigning } from '../../scripts/release/signing.ts'
import { startFakeRegistry } from './fake-registry.ts'

describe('the signatures of a release', () => {
  it('are verified, of files, image and chart', async () => {
    const { verify } = await start()
    await expect(verify()).resolves.toBe('checksums, signatures and provenance, of files, image and chart')
  })

  it('list every file of the page but checksums and signatures', async () => {
    const { files } = await start()
    const sums = readFileSync(join(files, 'SHA256SUMS'), 'utf8')
    expect(
      sums
        .trim()
        .split('\n')
        .map((line) => line.split('  ')[1]),
    ).toEqual(['tranche-1.2.3-linux-amd64.tar.gz', 'tranche-1.2.3.tgz'])
    expect(readdirSync(files)).toContain('tranche-1.2.3.provenance.sigstore.json')
  })

  it('are rejected if a file has changed', async () => {
    const { files, verify } = await start()
    writeFileSync(join(files, 'tranche-1.2.3.tgz'), 'other')
    await expect(verify()).rejects.toThrow('sha256sum')
  })

  it('are rejected if the checksums have changed', async () => {
    const { files, verify } = await start()
    const first = readFileSync(join(files, 'SHA256SUMS'), 'utf8').split('\n')[0]!
    writeFileSync(join(files, 'SHA256SUMS'), `${first}\n`)
    await expect(verify()).rejects.toThrow()
  })

  it('are rejected if those of the image are those of the chart', async () => {
    const { signatures, verify } = await start()
    writeFileSync(join(signatures, 'image.sigstore.json'), readFileSync(join(signatures, 'chart.sigstore.json')))
    await expect(verify()).rejects.toThrow('is not about sha256:')
  })

  it('are rejected if the provenance is a signature', async () => {
    const { signatures, verify } = await start()
    writeFileSync(join(signatures, 'image.provenance.sigstore.json'), readFileSync(join(signatures, 'image.sigstore.json')))
    await expect(verify()).rejects.toThrow('is not about sha256:')
  })

  it('are rejected by the key of another run', async () => {
    const { verify } = await start()
    await expect(verify(throwAwaySigning())).rejects.toThrow()
  })
})

/** A version that was built, pushed to a registry on this machine, and signed. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-sign-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const job: ReleaseJob = {
    version: '1.2.3',
    commit: 'c0ffee',
    created: new Date(0),
    addresses: { registry: 'registry.example/team', repository: 'owner/name' },
    workflow: null,
    darwin: null,
    folder,
  }
  const { files, npm, signatures, ...parts } = pathsOf(job)
  for (const path of [files, npm]) mkdirSync(path)
  for (const name of ['tranche-1.2.3-linux-amd64.tar.gz', 'tranche-1.2.3.tgz']) writeFileSync(join(files, name), name)
  writeFileSync(join(npm, 'owner-tranche-1.2.3.tgz'), 'package')
  const clients = { image: await pushed(parts.image, 'image'), chart: await pushed(parts.chart, 'chart') }
  const signing = throwAwaySigning()
  await writeChecksums(job, '- A change.')
  await signParts(job, signing)
  const verify = (by: Signing = signing): Promise<string> => verifyParts(job, { signing: by, clients, run: runCommand })
  return { files, signatures, verify }
}

/** @returns client of a registry that has a layout of one small file */
async function pushed(layout: string, text: string): Promise<PartClients['image']> {
  const registry = await startFakeRegistry()
  onTestFinished(() => registry[Symbol.asyncDispose]())
  const client = new RegistryClient({ name: `${registry.host}/team/part`, plain: true })
  const layers = [await layerOf([fileOf('file', text)], new Date(0))]
  const about = { created: new Date(0), labels: {}, user: '1', entrypoint: [], command: [], name: 'x:1' }
  writeLayout(layout, [{ architecture: 'amd64', layers }], about)
  await pushLayout(layout, client)
  return client
}
