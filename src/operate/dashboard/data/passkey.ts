/** What the desk sends for a passkey, as WebAuthn writes it in JSON. */
export type ForSignIn = PublicKeyCredentialRequestOptionsJSON;
export type ForEnrolment = PublicKeyCredentialCreationOptionsJSON;

/** What a passkey signed, as WebAuthn writes it in JSON: base64url. */
export interface Signed {
  readonly id: string;
  readonly response: Readonly<Record<'authenticatorData' | 'clientDataJSON' | 'signature', string>>;
}

/** Has a passkey of this person sign a challenge of the desk. */
export async function signWithPasskey(options: ForSignIn): Promise<Signed> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return jsonOf(await navigator.credentials.get({ publicKey })) as Signed;
}

/** Makes a passkey for this desk. */
export async function makePasskey(options: ForEnrolment): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return jsonOf(await navigator.credentials.create({ publicKey }));
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey was used');
  return credential.toJSON();
}
