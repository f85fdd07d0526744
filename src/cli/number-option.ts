import { ParlaneError } from '../domain/errors.ts';

/** Reads a flag that is a whole number from 1. */
export function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new ParlaneError('cli/bad-number', `${flag} is "${text}".`, 'It must be a whole number from 1.', { flag });
}

/** Reads a flag that is an amount above 0. */
export function amountAboveZero(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new ParlaneError('cli/bad-number', `${flag} is "${text}".`, 'It must be a number above 0.', { flag });
}
