import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileOf, type ImageFile } from '../../scripts/image/files.ts'
import { imageSettings } from '../../scripts/image/image-files.ts'
import { digestOf, layerOf } from '../../scripts/image/layer.ts'
import { writeLayout } from '../../scripts/image/oci-layout.ts'
import { parse } from 'yaml'

const created = new Date('2026-01-02T03:04:05Z')
const files: readonly ImageFile[] = [
  fileOf('usr/bin/tool', '#!/bin/true', 0o755),
  { path: 'tmp', mode: 0o1777 },
  { path: 'lib/tool', mode: 0o777, target: '/usr/bin/tool' },
]

describe('a layer of the image', () => {
  it('has the same bytes, whatever the order of its files', async () => {
    const [layer, again] = await Promise.all([layerOf(files, created), layerOf(files.toReversed(), created)])
    expect(digestOf(again.bytes)).toBe(digestOf(layer.bytes))
    expect(again.diffId).toBe(layer.diffId)
  })

  it('unpacks to its files and the folders that lead to them, all of them owned by root, at the time of the image', async () => {
    const { bytes } = await layerOf(files, created)
    const lines = execFileSync('tar', ['--list', '--verbose', '--gzip', '--numeric-owner', '--utc', '--full-time'], { input: bytes })
    expect(
      lines
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/\s+/g, ' ')),
    ).toEqual([
      'drwxr-xr-x 0/0 0 2026-01-02 03:04:05 lib/',
      'lrwxrwxrwx 0/0 0 2026-01-02 03:04:05 lib/tool -> /usr/bin/tool',
      'drwxrwxrwt 0/0 0 2026-01-02 03:04:05 tmp/',
      'drwxr-xr-x 0/0 0 2026-01-02 03:04:05 usr/',
      'drwxr-xr-x 0/0 0 2026-01-02 03:04:05 usr/bin/',
      '-rwxr-xr-x 0/0 11 2026-01-02 03:04:05 usr/bin/tool',
    ])
  })
})

describe('the layout of the image', () => {
  it('names each blob by its digest, and leads from the index to the layers of both architectures', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-layout-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const layer = await layerOf(files, created)
    const labels = { 'org.opencontainers.image.version': '0.1.0' }
    const settings = { ...imageSettings, created, labels, name: 'registry.example:5000/tranche:0.1.0' }
    const digest = writeLayout(
      folder,
      (['amd64', 'arm64'] as const).map((architecture) => ({ architecture, layers: [layer] })),
      settings,
    )
    const blob = (name: string): Buffer => readFileSync(join(folder, 'blobs/sha256', name.replace('sha256:', '')))
    for (const name of readdirSync(join(folder, 'blobs/sha256'))) expect(digestOf(blob(name))).toBe(`sha256:${name}`)

    const read = (name: string) => JSON.parse(blob(name).toString()) as Record<string, never>
    const { manifests } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
    expect(manifests).toMatchObject([{ digest, annotations: { 'org.opencontainers.image.ref.name': '0.1.0' } }])
    const platforms = read(digest)['manifests'] as unknown as readonly { readonly digest: string; readonly platform: object }[]
    expect(platforms.map(({ platform }) => platform)).toEqual([
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux' },
    ])
    const manifest = read(platforms[1]!.digest)
    expect(manifest).toMatchObject({ layers: [{ digest: digestOf(layer.bytes), size: layer.bytes.length }] })
    const config = read((manifest['config'] as unknown as { readonly digest: string }).digest)
    expect(config).toMatchObject({ architecture: 'arm64', rootfs: { diff_ids: [layer.diffId] }, config: { Labels: labels } })
  })

  it('starts as the user of the chart', () => {
    const values = parse(readFileSync('charts/tranche/values.yaml', 'utf8')) as { readonly runAsUser: number; readonly runAsGroup: number }
    expect(imageSettings.user).toBe(`${values.runAsUser}:${values.runAsGroup}`)
  })
})
