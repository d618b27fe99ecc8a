import { stringify } from 'yaml'
import { type Addresses, downloadsOf, pageOf } from './addresses.ts'
import type { CliArchive } from './archives.ts'

/**
 * @returns manifest of the plugin `tranche` for krew's index, with the digest of each archive
 * @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
export function krewManifest(version: string, archives: readonly CliArchive[], addresses: Addresses): string {
  const platforms = archives.map(({ platform, file, sha256 }) => {
    const [os, arch] = platform.split('-')
    return {
      selector: { matchLabels: { os, arch } },
      uri: `${downloadsOf(addresses, version)}/${file}`,
      sha256,
      bin: 'tranche',
      files: ['tranche', 'LICENSE'].map((from) => ({ from, to: '.' })),
    }
  })
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'tranche' },
    spec: {
      version: `v${version}`,
      homepage: pageOf(addresses),
      shortDescription: 'Release DaemonSets in batches',
      description:
        'Inspects and controls releases of DaemonSets: batches, pauses, approvals and rollbacks.\n' +
        'Needs Tranche on the cluster; "kubectl tranche doctor" checks that.\n',
      platforms,
    },
  })
}
