import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { ImageFile } from '../image/files.ts'
import { type Addresses, npmNameOf, pageOf } from './addresses.ts'
import type { CommandRunner } from './run-command.ts'

/**
 * @param manifest of the bundle, as JSON
 * @returns the manifest under which it is published; npm compares the repository with that of the provenance
 */
export function npmManifest(manifest: string, addresses: Addresses): string {
  const fields = JSON.parse(manifest) as object
  const repository = { type: 'git', url: `git+${pageOf(addresses)}.git` }
  const published = { ...fields, name: npmNameOf(addresses), homepage: pageOf(addresses), repository, publishConfig: { access: 'public' } }
  return `${JSON.stringify(published, null, 2)}\n`
}

/**
 * Packs the bundle of the image.
 *
 * @param app files of the image below `opt/tranche`
 * @param folder that gets the package
 * @returns path of the package
 */
export async function packNpm(app: readonly ImageFile[], addresses: Addresses, folder: string, run: CommandRunner): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'tranche-npm-'))
  try {
    for (const { path, mode, content } of app) {
      if (!path.startsWith('opt/tranche/') || content === undefined) continue
      const file = join(work, path.slice('opt/tranche/'.length))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content, { mode })
    }
    const manifest = join(work, 'package.json')
    writeFileSync(manifest, npmManifest(readFileSync(manifest, 'utf8'), addresses))
    const packed = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', resolve(folder)], { cwd: work })) as readonly {
      readonly filename: string
    }[]
    return join(folder, packed[0]!.filename)
  } finally {
    rmSync(work, { recursive: true })
  }
}
