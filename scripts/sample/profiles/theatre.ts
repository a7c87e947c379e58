import { names, type Profile, towns } from '../profile.ts';

/** A theatre company in Nantes. */
export const theatre: Profile = {
  organizationId: 'theatre-des-trois-ponts',
  name: 'Théâtre des Trois-Ponts',
  branches: ['Lyon', 'Besançon', 'Orléans', 'Angoulême', 'Saint-Étienne'],
  zone: 'Europe/Paris',
  countryCode: 'FR',
  currency: { code: 'EUR', minorUnits: 100 },
  priceStep: 50,
  taxRate: 0.055,
  orderNumberPrefix: 'TTP-',
  invoicePrefix: 'FA-',
  places: {
    house: {
      name: 'Théâtre des Trois-Ponts',
      address: ["7 quai de l'Écluse", 'Entrée des artistes côté jardin', 'Nantes', '44000', 'FR'],
    },
    away: {
      name: 'La Fabrique à Rêves',
      address: ['19 rue des Tanneurs', null, 'Saint-Nazaire', '44600', 'FR'],
    },
    tour: {
      name: 'Théâtre du Grand Brûlé',
      address: ['101 avenue des Filaos', null, 'Saint-Denis', '97400', 'RE'],
      zone: 'Indian/Reunion',
    },
    town: { name: "Salle des fêtes, 2 place de l'Hôtel-de-Ville, Rezé (sonner chez M. Le Goff)" },
    online: {},
  },
  productions: {
    play: ['Le Malade imaginaire', 'Comédie-ballet de Molière, en 2 h 10.', 'Théâtre', 'Molière', 'comédie'],
    gala: ["Nuit d'ouverture : œuvres choisies", null, 'Gala', '  Soirée   exceptionnelle ', 'théâtre'],
    tales: ['Contes pour petits géants', 'Dès 4 ans.', 'Jeune public', 'Marionnettes', 'MUSIQUE'],
    online: ['Lectures au long cours', 'Un roman lu à voix haute, en direct.', 'Lecture', 'En ligne'],
    run: ['Cyrano, cent représentations', 'Nantes ne le laisse pas partir.', 'Théâtre', 'Œuvre intégrale'],
    tour: ["L'Île des esclaves — tournée", 'Marivaux, à La Réunion.', 'Théâtre', 'Tournée', 'Marivaux'],
  },
  offers: {
    best: ['Carré Or', '<p>Face à la scène — <em>programme offert</em>.</p>'],
    good: ['Catégorie 1', '<p>Corbeille et premier balcon.</p>'],
    cheap: ['Catégorie 2'],
    standing: ['Placement libre', '<p>Ouverture des portes 20 minutes avant.</p>'],
    stream: ['Accès en ligne'],
    talk: ['Rencontre avec la troupe', "<p>Au foyer, à l'issue de la représentation.</p>"],
    workshop: ['Atelier marionnettes'],
    book: ['Programme de saison', '<p>64 pages, <strong>photographies</strong> des répétitions.</p>'],
    shirt: ['T-shirt « Trois-Ponts »'],
    duo: ['Duo avec programme', '<p>Deux places en première catégorie et un programme.</p>'],
    pass: ['Abonnement découverte', '<p>Un spectacle de chaque genre, à <strong>tarif abonné</strong>.</p>'],
  },
  blocs: {
    best: ['Orchestre pair', 'Orchestre impair'],
    good: ['Corbeille', 'Balcon'],
    cheap: ['Galerie'],
    standing: ['Gradins'],
  },
  rates: ['Plein tarif', 'Tarif réduit', 'Moins de 26 ans', 'Exonéré'],
  shopRate: 'Prix boutique',
  withTicketRate: 'Avec un billet',
  optionLabels: ['Taille', 'Couleur', 'Matière'],
  variants: [
    ['M', 'Bleu nuit', 'Coton'],
    ['L', 'Bleu nuit', 'Coton'],
    ['L', 'Écru', 'Lin'],
  ],
  form: {
    formId: 'form_jeune_public',
    fields: {
      age_enfant: ['4', '5', '6', '7', '8', '9', '10'],
      accessibilite: ['Aucun besoin', 'Fauteuil roulant', 'Boucle magnétique'],
      gouter: ['Crêpe', 'Pomme', 'Jus de raisin', 'Sans gluten'],
    },
    multiple: ['gouter'],
  },
  discounts: [
    { code: 'BIENVENUE10', percent: 10 },
    { code: 'AMIS-DU-THÉÂTRE', percent: 15 },
    { code: 'DERNIÈRE-MINUTE', percent: 33 },
  ],
  salesChannels: [
    { salesChannelId: 'chan_site', salesChannelName: 'Site officiel', issuanceChannel: 'ONLINE' },
    { salesChannelId: 'chan_reseau', salesChannelName: 'Réseau partenaire', issuanceChannel: 'PARTNER' },
    { salesChannelId: 'chan_guichet', salesChannelName: 'Guichet', issuanceChannel: 'BOX_OFFICE' },
  ],
  carriers: { home: 'carrier_lettre_suivie', pickup: 'carrier_relais' },
  pickupPoints: [
    ['relais_0448', 'Librairie du Passage', '4 rue de la Fosse', 'Nantes', '44000'],
    ['relais_0512', 'Épicerie du Château', '31 allée Brancas', 'Vertou', '44120'],
  ],
  insurance: { serviceId: 'srv_annulation', serviceName: 'Garantie annulation' },
  donation: { serviceId: 'srv_mecenat', serviceName: 'Fonds pour la création' },
  optIns: ['lettre_d_information', 'offres_partenaires'],
  population: {
    firstNames: names(
      'Zoé Léa Chloé Anaïs Noémie Hélène Inès Maëlle François Jérôme Rémi Loïc Théo Benoît Gaël André Béatrice Solène Yaël Côme',
    ),
    lastNames: names(
      'Lefèvre Béranger Nguyen Le_Goff Dupré Müller Rousseau Guérin Fernández Chénier Delaunay Bourgès Traoré Gauthier Hervé Maréchal Benaïssa Leclerc Pâquet Simon',
    ),
    streets: ['% rue des Tanneurs', "% place de l'Église", '% chemin du Vieux-Four', '% allée des Érables'],
    addressLines2: ['Bâtiment C, 3e étage', 'Résidence Les Acacias', 'Appt 12'],
    towns: towns('Nantes 44000, Saint-Herblain 44800, Rezé 44400, Orvault 44700, Vannes 56000'),
    companies: [
      { companyName: 'Atelier Lefèvre & Fils', vatNumber: 'FR00000000001' },
      { companyName: "Comité d'entreprise des Chantiers", vatNumber: 'FR00000000002' },
    ],
    phone: '+33 6 39 98 ## ##', // a range that the French regulator reserves for fiction
  },
};
