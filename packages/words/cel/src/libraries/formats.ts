import { type Environment, Optional } from '@marcbachmann/cel-js'

/** A named format. */
class Format {
  readonly check: (text: string) => string | undefined

  constructor(check: (text: string) => string | undefined) {
    this.check = check
  }
}

/** `format.dns1123Label()` and other formats, `format.named`, and `validate`, which returns none or the problems. */
export function registerFormats(environment: Environment): void {
  class Formats {}
  environment
    .registerType('Format', { ctor: Format, fields: {} })
    .registerType('FormatNamespace', Formats)
    .registerConstant('format', 'FormatNamespace', new Formats())
    .registerFunction('FormatNamespace.named(string): optional<Format>', (_formats: Formats, name: string) => {
      const check = checks.get(name)
      return check === undefined ? Optional.none() : Optional.of(new Format(check))
    })
    .registerFunction('Format.validate(string): optional<list<string>>', ({ check }: Format, text: string) => {
      const fault = check(text)
      return fault === undefined ? Optional.none() : Optional.of([fault])
    })
  for (const [name, check] of checks) environment.registerFunction(`FormatNamespace.${name}(): Format`, () => new Format(check))
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'

const checks: ReadonlyMap<string, (text: string) => string | undefined> = new Map(
  Object.entries({
    dns1123Label: matches(label, 63, 'a lowercase RFC 1123 label'),
    dns1123Subdomain: matches(`${label}(\\.${label})*`, 253, 'a lowercase RFC 1123 subdomain'),
    dns1035Label: matches('[a-z]([-a-z0-9]*[a-z0-9])?', 63, 'a DNS-1035 label'),
    qualifiedName: matches('(?:[a-z0-9.-]{1,253}/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]', 317, 'a qualified name'),
    labelValue: matches('(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?', 63, 'a label value'),
    uuid: matches('[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}', 36, 'a UUID'),
    byte: matches('(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?', 3_145_728, 'base64'),
    date: matches('\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])', 10, 'a date'),
    datetime: (text) => (Number.isNaN(Date.parse(text)) || !text.includes('T') ? 'must be a date and time' : undefined),
    uri: (text) => (URL.canParse(text) ? undefined : 'must be a URI'),
  }),
)

function matches(pattern: string, longest: number, what: string): (text: string) => string | undefined {
  const whole = new RegExp(`^${pattern}$`)
  return (text) => {
    if (text.length > longest) return `must be no more than ${longest} characters`
    return whole.test(text) ? undefined : `must be ${what}`
  }
}
