import type { DebianPackage } from './debian-libraries.ts'

/** A bill of materials in the format of CycloneDX, as far as it is read here. */
interface Bill {
  readonly components?: readonly object[]
}

/**
 * The bill of materials of the whole image: what the bundle lists, and Node.js and the Debian packages beside it.
 *
 * @param bundled bill of the bundle, as JSON
 */
export function billOfImage(bundled: string, packages: readonly DebianPackage[], nodeVersion: string): Bill {
  const bill = JSON.parse(bundled) as Bill
  const node = {
    type: 'platform',
    name: 'node',
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
    licenses: [{ license: { id: 'MIT' } }],
    evidence: { occurrences: [{ location: '/usr/bin/node' }] },
  }
  const libraries = packages.map(({ name, version, architecture, sha256 }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: [{ license: { name: `see /usr/share/doc/${name === 'libc6' ? 'libc6' : 'gcc-12-base'}/copyright` } }],
  }))
  return { ...bill, components: [...(bill.components ?? []), node, ...libraries] }
}
