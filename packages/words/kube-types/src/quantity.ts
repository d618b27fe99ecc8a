/**
 * Quantities of Kubernetes (`500m`, `1Gi`, `2e3`) as whole numbers of billionths, so that sums are exact.
 *
 * @see k8s.io/apimachinery/pkg/api/resource Quantity
 */

const NANO = 9

/** Maximum length of a quantity that is read, in characters: API servers store shorter ones, and a million digits take a second to convert. */
const LONGEST = 100

/** Maximum power of ten, positive or negative, by which a quantity is multiplied. */
const LARGEST_POWER = 30

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

/** Format of a quantity: sums keep the format of their first amount. */
export type QuantityForm = 'decimal' | 'binary'

/** @returns billionths, rounded up as in Kubernetes; undefined for an invalid quantity, and for one of more than 100 characters */
export function parseQuantity(value: unknown): bigint | undefined {
  const text = String(value ?? '')
  if (text.length > LONGEST) return undefined
  const parts = /^([+-]?)(\d+\.?\d*|\.\d+)(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(text)
  if (parts === null) return undefined
  const [, sign, digits = '', suffix = ''] = parts
  const [whole = '', fraction = ''] = digits.split('.')
  const amount = scaled(BigInt(whole + fraction || '0'), suffix, fraction.length)
  return sign === '-' ? -amount : amount
}

/** @returns format of the text */
export function quantityForm(value: unknown): QuantityForm {
  return String(value ?? '').endsWith('i') ? 'binary' : 'decimal'
}

/** @returns the shortest text without a fraction, as the API server writes it: `1500m`, `2`, `1536Mi` */
export function formatQuantity(nano: bigint, form: QuantityForm = 'decimal'): string {
  if (nano === 0n) return '0'
  if (form === 'binary' && nano % 10n ** 9n === 0n) return formatBinary(nano / 10n ** 9n)
  let amount = nano
  let at = 0
  while (at < decimalSuffixes.length - 1 && amount % 1000n === 0n) {
    amount /= 1000n
    at++
  }
  return `${amount}${decimalSuffixes[at]}`
}

/** @returns quantity as API servers store it: `1000m` as `1`, `1024Mi` as `1Gi`; exponents stay unchanged */
export function canonicalQuantity(text: string): string {
  if (/[eE][+-]?\d/.test(text)) return text
  const nano = parseQuantity(text)
  return nano === undefined ? text : formatQuantity(nano, quantityForm(text))
}

function scaled(digits: bigint, suffix: string, fractionDigits: number): bigint {
  const binary = binarySuffixes.indexOf(suffix as (typeof binarySuffixes)[number])
  if (binary >= 0) return divideUp(digits * 1024n ** BigInt(binary + 1) * 10n ** BigInt(NANO), 10n ** BigInt(fractionDigits))
  const decimal = decimalSuffixes.indexOf(suffix as (typeof decimalSuffixes)[number])
  const exponent = decimal >= 0 ? decimal * 3 - NANO : withinPowers(Number(suffix.slice(1)))
  const shift = exponent + NANO - fractionDigits
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift))
}

/** API servers store exponents of nine digits. Powers that large would take minutes, and no node has as much. */
function withinPowers(exponent: number): number {
  return Math.max(-LARGEST_POWER, Math.min(exponent, LARGEST_POWER))
}

function formatBinary(units: bigint): string {
  let amount = units
  let at = -1
  while (at < binarySuffixes.length - 1 && amount % 1024n === 0n) {
    amount /= 1024n
    at++
  }
  return `${amount}${at < 0 ? '' : binarySuffixes[at]}`
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by
}
